package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// A removal tells the lines that say what a removed line said, whatever their
// citations and counts say now.
type removal struct {
	text  string // uncited
	words []string
}

func newRemoval(text string) removal { return removal{text, tokens(uncounted(text))} }

// meets reports whether an uncited line says what the removed one said.
func (r removal) meets(have string) bool {
	if have == r.text {
		return true
	}
	if have == "" || len(r.words) == 0 || isHeading(have) {
		return false
	}
	if head, ok := strings.CutSuffix(have, "…"); ok && len(head) >= 40 && strings.HasPrefix(r.text, head) {
		return true // a briefing cuts lines short
	}
	now := tokens(uncounted(have))
	return negative(have) == negative(r.text) && (slices.Equal(now, r.words) || len(r.words) >= 6 && jaccard(now, r.words) >= 0.8)
}

// removeLine removes every line that says what the removed one said, except those
// to be kept. Of marks, as a code fence has them, one goes.
func (ed *editor) removeLine(text string, n memoir.Note, keep map[string]bool) string {
	want := ed.uncited(strings.TrimLeft(n.Text, "\n"))
	if want == "" {
		return text
	}
	r := newRemoval(want)
	var out []string
	gone := false
	for l := range strings.SplitSeq(text, "\n") {
		have := ed.uncited(l)
		if keep[have] || !r.meets(have) || fence(want) && gone {
			out = append(out, l)
			continue
		}
		gone = true
	}
	return strings.Join(out, "\n")
}

// rejected tells the claims that a person took out of MEMORY.md and did not put
// back in the same words.
func rejected(notes []memoir.Note) func(text string) bool {
	var gone []removal
	kept := map[string]bool{}
	for _, n := range slices.Backward(notes) {
		if path.Clean(n.File) != memoryFile {
			continue
		}
		switch text := uncited(n.Text, looksOwn); n.Action {
		case memoir.NoteAdded:
			kept[text] = true
		case memoir.NoteRemoved:
			if !kept[text] && !isHeading(text) {
				gone = append(gone, newRemoval(text))
			}
		}
	}
	return func(text string) bool {
		line := uncited("- "+text, looksOwn)
		return !kept[line] && slices.ContainsFunc(gone, func(r removal) bool { return r.meets(line) })
	}
}

// uncounted is a line without the parts that change from one generation to the
// next while the claim stays the same.
func uncounted(text string) string {
	for _, mark := range []string{" (ran ", " (until ", " — changed in ", " — said after the agent", " — read "} {
		text, _, _ = strings.Cut(text, mark)
	}
	return text
}
