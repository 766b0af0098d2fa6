package memory

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"memoir"
)

// Notes turns hand edits into notes, which outlive generations.
//
// MEMORY.md and memory_summary.md are compared line by line: blank lines and
// space at the end of a line do not count, a changed line is one removed and one
// added. The text of an added line that has a blank line above it begins with a
// line break. A file's removals come before its additions, so that a line moved
// elsewhere is not removed again after it was added. Any other file is a note as
// a whole.
func Notes(projectID string, edits []Edit, at time.Time) []memoir.Note {
	var notes []memoir.Note
	add := func(path string, action memoir.NoteAction, text string, where place) {
		notes = append(notes, memoir.Note{
			ProjectID: projectID, File: path, Action: action,
			Section: where.section, After: where.after, Text: text, At: at,
		})
	}
	for _, edit := range edits {
		switch {
		case edit.Path == MemoryFile || edit.Path == SummaryFile:
			for _, change := range lineChanges(edit.Published, edit.Now) {
				action := memoir.NoteAdded
				if change.op == '-' {
					action = memoir.NoteRemoved
				}
				add(edit.Path, action, change.text, change.place)
			}
		case edit.Now == nil:
			add(edit.Path, memoir.NoteDeleted, "", place{})
		case edit.Published == nil || !bytes.Equal(edit.Published, edit.Now):
			add(edit.Path, memoir.NoteFile, string(edit.Now), place{})
		}
	}
	return notes
}

// place is where a line stands: under which heading, and after which line of it.
type place struct{ section, after string }

type lineChange struct {
	line
	place
}

// lineChanges lists the removed lines with their places in the old text, then
// the added ones with theirs in the new text.
func lineChanges(before, after []byte) []lineChange {
	removed, added, kept := walker{skip: '+', want: '-'}, walker{skip: '-', want: '+'}, walker{skip: '-', want: ' '}
	old, _ := meaningful(before)
	now, apart := meaningful(after)
	at := 0 // in now
	for _, l := range compareLines(old, now) {
		removed.next(l)
		added.next(l)
		kept.next(l)
		if l.op == '-' {
			continue
		}
		// A blank line above a line that a person wrote is theirs too; below a
		// heading there is one anyhow.
		if last := len(added.found) - 1; l.op == '+' && apart[at] && added.found[last].after != "" {
			added.found[last].text = "\n" + added.found[last].text
		}
		at++
	}
	// Of a line that stood twice in a section and was deleted once, the other is
	// meant to stay, and a note would take it away too.
	type inSection struct{ section, text string }
	stays := map[inSection]bool{}
	for _, c := range kept.found {
		stays[inSection{c.section, c.text}] = true
	}
	out := slices.DeleteFunc(removed.found, func(c lineChange) bool { return stays[inSection{c.section, c.text}] })
	return append(out, added.found...)
}

// walker follows one of the two texts of a comparison and keeps the lines wanted.
type walker struct {
	skip, want byte
	at         place
	fence      bool
	found      []lineChange
}

func (w *walker) next(l line) {
	if l.op == w.skip {
		return
	}
	if l.op == w.want {
		w.found = append(w.found, lineChange{l, w.at})
	}
	switch trimmed := strings.TrimSpace(l.text); {
	case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
		w.fence = !w.fence
		w.at.after = l.text
	case !w.fence && heading(l.text):
		w.at = place{section: trimmed}
	default:
		w.at.after = l.text
	}
}

// heading reports whether a line is a Markdown heading: one to six '#' and a space.
func heading(text string) bool {
	marks := len(text) - len(strings.TrimLeft(text, "#"))
	return marks >= 1 && marks <= 6 && len(text) > marks && text[marks] == ' '
}

// meaningful lists the lines that are not blank, without the space at their end,
// and which of them stand apart: have a blank line above them.
func meaningful(text []byte) (lines []string, apart []bool) {
	blank := false
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimRight(l, " \t\r\n"); l == "" {
			blank = true
			continue
		}
		lines, apart = append(lines, l), append(apart, blank)
		blank = false
	}
	return lines, apart
}
