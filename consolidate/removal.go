package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// A saying is an uncited line with what it says, whatever its counts say now.
type saying struct {
	text     string // uncited
	words    []string
	negative bool
}

func newSaying(text string) *saying {
	return &saying{text, tokens(uncounted(text)), negative(text)}
}

// meets reports whether a line says what the removed one said.
func (r *saying) meets(have *saying) bool {
	if have.text == r.text {
		return true
	}
	if have.text == "" || len(r.words) == 0 || isHeading(have.text) {
		return false
	}
	if shortens(have.text, r.text) {
		return true
	}
	return have.negative == r.negative && (slices.Equal(have.words, r.words) || len(r.words) >= 6 && jaccard(have.words, r.words) >= 0.8)
}

// shortens reports whether a line is a part of another, as a briefing has it: cut
// short, in whole sentences, or with parts between the dashes left out.
func shortens(line, full string) bool {
	if len(line) < 40 || len(line) >= len(full) || line[:4] != full[:4] {
		return false
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSuffix(line, " …”"), " — ", "…"), "…") {
		at := strings.Index(full, part)
		if at < 0 {
			return false
		}
		full = full[at+len(part):]
	}
	return true
}

// saying is what an uncited line says, worked out once for all removals.
func (ed *editor) saying(text string) *saying {
	s := ed.sayings[text]
	if s == nil {
		s = newSaying(text)
		ed.sayings[text] = s
	}
	return s
}

// removeLine removes every line that says what the removed one said, except those
// to be kept. Of marks, as a code fence has them, one goes.
func (ed *editor) removeLine(text string, n memoir.Note, keep map[string]bool) string {
	want := ed.uncited(strings.TrimLeft(n.Text, "\n"))
	if want == "" {
		return text
	}
	r := ed.saying(want)
	var out []string
	gone := false
	for l := range strings.SplitSeq(text, "\n") {
		have := ed.uncited(l)
		if keep[have] || !r.meets(ed.saying(have)) || fence(want) && gone {
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
	var gone []*saying
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
				gone = append(gone, newSaying(text))
			}
		}
	}
	return func(text string) bool {
		if len(gone) == 0 {
			return false
		}
		line := newSaying(uncited("- "+text, looksOwn))
		return !kept[line.text] && slices.ContainsFunc(gone, func(r *saying) bool { return r.meets(line) })
	}
}

// uncounted is a line without the parts that change from one generation to the
// next while the claim stays the same.
func uncounted(text string) string {
	for _, mark := range []string{" (ran ", " (until ", " — changed in ", " — said after the agent", " (to the agent's “", " — read ", " — runs `", " (runs `"} {
		text, _, _ = strings.Cut(text, mark)
	}
	for _, p := range purposes { // a briefing says what a command is for, the memory that it works
		text = strings.Replace(text, "- "+p.name+": `", "- `", 1)
	}
	if strings.HasPrefix(text, "- `") {
		for _, verb := range []string{" passes", " works", " formats", " fixes"} {
			text = strings.TrimSuffix(text, verb)
		}
	}
	return text
}
