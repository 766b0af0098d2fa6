package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
)

// ApplyNotes applies hand edits to a consolidation, of whichever model: lines
// that a person added stand where they were put, else at the end of their
// section, else under Notes; lines that they removed stay away from every file,
// whatever their citations say now; files that they wrote or deleted stay so.
// Applying the same notes again changes nothing. Notes come from LiveNotes, which
// leaves out what must be forgotten and adds what belongs into the briefing.
func ApplyNotes(c memoir.Consolidation, notes []memoir.Note) memoir.Consolidation {
	if len(notes) == 0 {
		return c
	}
	notes = slices.Clone(notes)
	slices.SortStableFunc(notes, func(a, b memoir.Note) int { return cmp.Compare(a.ID, b.ID) })
	ed := &editor{files: open(c), before: open(c), times: map[string]int{}, last: map[string]int{},
		mine: map[string]bool{}, added: map[string]bool{}}
	for _, n := range notes {
		switch n.Action {
		case memoir.NoteFile:
			ed.mine[path.Clean(n.File)] = true
		case memoir.NoteAdded:
			ed.added[uncited(n.Text)] = true
		}
	}
	var headings []memoir.Note
	for i, n := range notes {
		name := path.Clean(n.File)
		switch n.Action {
		case memoir.NoteFile:
			ed.files.put(name, tame(n.Text))
		case memoir.NoteDeleted:
			ed.files.remove(name)
		case memoir.NoteAdded:
			if ed.files.has(name) {
				ed.add(name, n)
			}
		case memoir.NoteRemoved:
			if isHeading(n.Text) {
				headings = append(headings, n)
				continue
			}
			ed.remove(name, n, ed.addedAfter(notes[i+1:]))
		}
	}
	for _, n := range headings {
		name := path.Clean(n.File)
		if ed.files.has(name) {
			ed.files.put(name, removeHeading(ed.files.get(name), n.Text))
		}
	}
	ed.dropEmptied()
	out := ed.files.close()
	out.Citations = c.Citations
	return out
}

// An editor applies notes to files.
type editor struct {
	files, before *artifacts
	times         map[string]int  // how often the notes so far added a line to a file
	last          map[string]int  // where the last added line of a file stands
	mine          map[string]bool // files that a person wrote as a whole
	added         map[string]bool // lines that a person added
}

// addedAfter lists what later notes add: a line that was reworded or moved is
// removed in its old form only.
func (ed *editor) addedAfter(notes []memoir.Note) map[string]bool {
	out := map[string]bool{}
	for _, n := range notes {
		if n.Action == memoir.NoteAdded {
			out[uncited(n.Text)] = true
		}
	}
	return out
}

// remove takes a line out of its file. What a person takes out of MEMORY.md may
// not come back by way of the summary or of a skill that they did not write.
func (ed *editor) remove(name string, n memoir.Note, keep map[string]bool) {
	if ed.files.has(name) {
		ed.files.put(name, ed.removeLine(ed.files.get(name), n, keep))
	}
	if name != memoryFile {
		return
	}
	for _, other := range sortedKeys(ed.files.text) {
		if other != memoryFile && !ed.mine[other] && path.Ext(other) == ".md" {
			ed.files.put(other, ed.removeLine(ed.files.get(other), n, keep))
		}
	}
}

// dropEmptied removes the headings under which nothing is left.
func (ed *editor) dropEmptied() {
	for _, name := range sortedKeys(ed.files.text) {
		if ed.mine[name] || !ed.before.has(name) || ed.before.get(name) == ed.files.get(name) {
			continue
		}
		for line := range strings.Lines(ed.before.get(name)) {
			if line = strings.TrimSpace(line); isHeading(line) && level(line) > 1 &&
				removeHeading(ed.before.get(name), line) == ed.before.get(name) {
				ed.files.put(name, removeHeading(ed.files.get(name), line))
			}
		}
	}
}

// removeHeading removes a heading if nothing stands under it any more.
func removeHeading(text, heading string) string {
	lines := strings.Split(text, "\n")
	from, to, ok := span(lines, heading)
	if !ok || strings.TrimSpace(heading) == "" {
		return text
	}
	for _, l := range lines[from:to] {
		if strings.TrimSpace(l) != "" {
			return text
		}
	}
	if to < len(lines) && level(lines[to]) > level(strings.TrimSpace(heading)) {
		return text // a section below it is still there
	}
	return tidyBreaks(strings.Join(slices.Delete(lines, from-1, to), "\n"))
}

// isHeading reports whether a line is a Markdown heading.
func isHeading(l string) bool {
	n := level(l)
	return n >= 1 && n <= 6 && len(l) > n && l[n] == ' '
}

// removeLine removes every line that says what the removed one said, except those
// to be kept. Of marks, as a code fence has them, one goes.
func (ed *editor) removeLine(text string, n memoir.Note, keep map[string]bool) string {
	want := uncited(strings.TrimLeft(n.Text, "\n"))
	if want == "" {
		return text
	}
	var out []string
	gone := false
	for l := range strings.SplitSeq(text, "\n") {
		have := uncited(l)
		same := have == want || !ed.added[have] && sayTheSame(want, have)
		if keep[have] || !same || fence(want) && gone {
			out = append(out, l)
			continue
		}
		gone = true
	}
	return strings.Join(out, "\n")
}

// leastCompared is how many words tell that two lines say the same where they differ.
const leastCompared = 5

// sayTheSame reports whether a list entry says what a removed one said: in the same words
// whatever their order and endings, in nearly the same ones, or cut short.
func sayTheSame(removed, line string) bool {
	if !isEntry(removed) || !isEntry(line) {
		return false
	}
	removed, line = withoutMark(removed), withoutMark(line)
	if head, ok := strings.CutSuffix(line, "…"); ok && len(head) > leastTelling && strings.HasPrefix(removed, head) {
		return true
	}
	a, b := words(removed), words(line)
	return len(a) > 0 && slices.Equal(a, b) || len(a) >= leastCompared && alike(a, b) && jaccard(a, b) >= 0.8
}
