package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// ApplyHandEdits applies hand edits to a consolidation of any model, in their order. It may have some already: applying
// the same edits again changes nothing. Removed lines are removed with their equivalents from every file, whatever
// their citations, unless the person left an equal one. A line that was changed, here or by a member, takes only equal
// ones with it: others that are alike may say more. Written and deleted files stay so. Edits come from
// LiveHandEdits, which leaves out forgotten text and adds lines for the summary.
func ApplyHandEdits(c memoir.Consolidation, edits []memoir.HandEdit) memoir.Consolidation {
	return withHandEdits(c, edits, true)
}

// withHandEdits is ApplyHandEdits. If a memory has no hand edits yet, and only then, it replays all of them, so that
// the files become those that the person left.
func withHandEdits(c memoir.Consolidation, edits []memoir.HandEdit, again bool) memoir.Consolidation {
	if len(edits) == 0 {
		return c
	}
	files := open(c)
	pages := map[string]*editor{
		memoir.MemoryFile:  newEditor(files[memoir.MemoryFile], headNotes, again),
		memoir.SummaryFile: newEditor(files[memoir.SummaryFile], headByHand, again),
	}
	mine, changed := map[string]bool{}, Changed(edits) // files that a person wrote as a whole
	for _, n := range edits {
		name := path.Clean(n.File)
		switch ed := pages[name]; {
		case n.Action == memoir.EditFile:
			files.put(name, sanitise(n.Text))
			mine[name] = true
		case n.Action == memoir.EditDeleted:
			files.remove(name)
		case ed != nil:
			ed.apply(n, changed[untold(n.Text)] != "" || len(editorsOf(n.Text)) > 0)
		}
	}
	gone := goneBy(pages[memoir.MemoryFile].removed)
	for name, ed := range pages {
		also := goneBy(ed.removed)
		ed.sweep(func(line string) bool { return gone(line) || also(line) })
		files.put(name, ed.String())
	}
	for name, text := range files {
		if pages[name] == nil && path.Ext(name) == ".md" && !mine[name] {
			files[name] = strings.Join(slices.DeleteFunc(strings.Split(text, "\n"),
				func(line string) bool { return gone(Uncited(line)) && !fence(line) }), "\n")
		}
	}
	out := files.close()
	out.Citations, out.Lines, out.Edited = c.Citations, c.Lines, c.Edited
	return out
}

// goneBy returns a function that reports whether a line without its citation is equal or equivalent to a removed one.
func goneBy(removed map[string]bool) func(line string) bool {
	var entries []saying
	for line, changed := range removed {
		if isEntry(line) {
			entries = append(entries, sayingOf(line, changed))
		}
	}
	return func(line string) bool {
		_, equal := removed[line]
		return equal || len(entries) > 0 && sayTheSame(entries, line)
	}
}

// Decided selects the differences of a restored memory that count as hand edits.
//
// Removed lines count, except those that every consolidation rewrites (title, head, map) and those of which only
// the citation differs. Added lines come from the sessions again, or are in the present memory of a model. They only
// cancel an earlier removal, as EditRestored, and do not become lines of a person.
func Decided(edits, earlier []memoir.HandEdit) []memoir.HandEdit {
	added := map[memoir.HandEdit]bool{}
	for _, n := range edits {
		if n.Action == memoir.EditAdded {
			added[bareLine(n)] = true
		}
	}
	first := map[memoir.HandEdit]int{} // by undoing: the first edit that each would undo, from 1
	for i, old := range earlier {
		if key := undoing(old, old.Action); first[key] == 0 {
			first[key] = i + 1
		}
	}
	var out []memoir.HandEdit
	for _, n := range edits {
		at := first[undoing(n, opposite[n.Action])] - 1
		ours := n.Action == memoir.EditRemoved && (written(n) || added[bareLine(n)]) ||
			n.Action == memoir.EditAdded || n.Action == memoir.EditFile
		switch {
		case at >= 0 && n.Action == memoir.EditAdded:
			n.Action, n.Text = memoir.EditRestored, earlier[at].Text
			out = append(out, n)
		case at >= 0 || !ours:
			out = append(out, n)
		}
	}
	return out
}

var opposite = map[memoir.EditAction]memoir.EditAction{memoir.EditAdded: memoir.EditRemoved,
	memoir.EditRemoved: memoir.EditAdded, memoir.EditFile: memoir.EditFile}

// undoing identifies what an edit with an action would undo: of a line the other action, of a whole file each.
func undoing(n memoir.HandEdit, action memoir.EditAction) memoir.HandEdit {
	if action == memoir.EditFile || action == memoir.EditDeleted {
		return memoir.HandEdit{File: path.Clean(n.File), Action: memoir.EditFile}
	}
	return memoir.HandEdit{File: path.Clean(n.File), Text: Uncited(n.Text), Action: action}
}

// bareLine returns the file, section and text of a line without its citation.
func bareLine(n memoir.HandEdit) memoir.HandEdit {
	return memoir.HandEdit{File: path.Clean(n.File), Section: n.Section, Text: Uncited(n.Text)}
}

// ownHead matches the line of MEMORY.md's head that every consolidation rewrites.
var ownHead = lazyregexp.New(`^From \d+ sessions?, `)

// written reports whether every consolidation rewrites a line.
func written(n memoir.HandEdit) bool {
	text := strings.TrimSpace(n.Text)
	return n.Section == "" && isHeading(text) && level(text) == 1 || n.Section == headMap || text == headMap ||
		level(n.Section) < 2 && ownHead.MatchString(text)
}

// maxHandLine is the maximum bytes of one hand-written line in the summary.
const maxHandLine = 300

// LiveHandEdits prepares edits for ApplyHandEdits. It removes the citations of withdrawn sessions, and lines that
// cite no other session or have the full id of one: forgetting takes precedence over a hand edit. It adds edits that
// repeat in the summary the lines that people added to MEMORY.md, up to half of the summary's limit.
func LiveHandEdits(edits []memoir.HandEdit, in Input) []memoir.HandEdit {
	r := in.register()
	var out []memoir.HandEdit
	for _, n := range edits {
		switch n.Action {
		case memoir.EditAdded, memoir.EditWasAdded, memoir.EditFile:
			var kept strings.Builder
			for line := range strings.Lines(sanitise(n.Text)) { // a citation may contain hidden characters
				if line, ok := r.live(line); ok {
					kept.WriteString(line)
				}
			}
			n.Text = kept.String()
			if strings.TrimSpace(n.Text) == "" && n.Action != memoir.EditFile {
				continue
			}
		}
		out = append(out, n)
	}
	_, tokens := in.limits()
	return append(out, repeated(out, 2*tokens)...)
}

// repeated returns edits that repeat in the summary the lines that people added to MEMORY.md, and did not remove from
// the summary: one entry for each paragraph, the newest within room bytes, without code and tables.
func repeated(edits []memoir.HandEdit, room int) []memoir.HandEdit {
	removed := map[string]bool{} // from the summary
	for _, n := range edits {
		if n.Action == memoir.EditRemoved && path.Clean(n.File) == memoir.SummaryFile {
			removed[Uncited(n.Text)] = true
		}
	}
	var all []memoir.HandEdit
	after := "" // the line of MEMORY.md that the last entry ends with
	for _, n := range edits {
		if n.Action != memoir.EditAdded || path.Clean(n.File) != memoir.MemoryFile {
			continue
		}
		switch text := strings.TrimSpace(n.Text); {
		case isClaim(text), fence(text), isHeading(text), strings.Trim(text, "-*_= ") == "", text[0] == '|':
		case after != "" && n.After == after && !isEntry(text) && !strings.HasPrefix(n.Text, "\n"):
			all[len(all)-1].Text += " " + text
			after = n.Text
		default:
			after = strings.TrimLeft(n.Text, "\n")
			n.File, n.After, n.Section, n.Nth, n.Others = memoir.SummaryFile, "", summarySection(n.Section), 0, 0
			n.Text = "- " + withoutMark(Uncited(sanitise(text)))
			all = append(all, n)
		}
	}
	all = slices.DeleteFunc(all, func(n memoir.HandEdit) bool { return removed[n.Text] })
	from := len(all)
	for room -= len(headByHand) + 3; from > 0; from-- {
		all[from-1].Text = cut(all[from-1].Text, maxHandLine)
		if room -= len(all[from-1].Text) + 1; room < 0 {
			break
		}
	}
	last := map[string]string{}
	for i, n := range all[from:] {
		all[from+i].After = last[n.Section]
		last[n.Section] = n.Text
	}
	return all[from:]
}

// isClaim reports whether a line is marked as not confirmed.
func isClaim(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), memoir.Unconfirmed) }

// summarySection returns the section of the summary for a section of MEMORY.md.
func summarySection(heading string) string {
	for _, part := range briefing {
		if slices.Contains(part.from, heading) {
			return part.heading
		}
	}
	return headByHand
}

// editBytes returns how many bytes hand edits may add to a file, or with "" to all: they are not cut.
func editBytes(edits []memoir.HandEdit, file string) (n int) {
	for _, edit := range edits {
		byHand := edit.Action == memoir.EditAdded || edit.Action == memoir.EditFile
		if byHand && (file == "" || path.Clean(edit.File) == file) {
			n += len(edit.Text) + len("\n\n\n")
		}
	}
	if n > 0 {
		n += len("\n" + headByHand + "\n\n")
	}
	return n
}
