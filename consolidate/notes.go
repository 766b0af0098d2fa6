package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
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
			ed.files.put(name, removeHeading(ed.files[name], n.Text))
		}
	}
	ed.dropEmptied()
	out := ed.files.close()
	out.Citations = c.Citations
	return out
}

// An editor applies notes to files.
type editor struct {
	files, before artifacts
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
		ed.files.put(name, ed.removeLine(ed.files[name], n, keep))
	}
	if name != memoir.MemoryFile {
		return
	}
	for _, other := range sortedKeys(ed.files) {
		if other != memoir.MemoryFile && !ed.mine[other] && path.Ext(other) == ".md" {
			ed.files.put(other, ed.removeLine(ed.files[other], n, keep))
		}
	}
}

// dropEmptied removes the headings under which nothing is left.
func (ed *editor) dropEmptied() {
	for _, name := range sortedKeys(ed.files) {
		if ed.mine[name] || !ed.before.has(name) || ed.before[name] == ed.files[name] {
			continue
		}
		for line := range strings.Lines(ed.before[name]) {
			if line = strings.TrimSpace(line); isHeading(line) && level(line) > 1 &&
				removeHeading(ed.before[name], line) == ed.before[name] {
				ed.files.put(name, removeHeading(ed.files[name], line))
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

// Decided returns those of the notes on a restored memory that say what a person
// decided by restoring it.
//
// What is removed stays away, except what every consolidation writes anew (title, head, map),
// and lines of which only the sessions behind them differ. What is added comes from the
// sessions again, or is in the memory that a model goes on from; so it counts only where an
// earlier note would take it away.
func Decided(notes, earlier []memoir.Note) []memoir.Note {
	added := map[memoir.Note]bool{}
	for _, n := range notes {
		if n.Action == memoir.NoteAdded {
			added[bareLine(n)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(notes), func(n memoir.Note) bool {
		ours := n.Action == memoir.NoteRemoved && (written(n) || added[bareLine(n)]) ||
			n.Action == memoir.NoteAdded || n.Action == memoir.NoteFile
		return ours && !slices.ContainsFunc(earlier, func(old memoir.Note) bool { return against(n, old) })
	})
}

// against reports whether an earlier note would undo what a note does.
func against(n, old memoir.Note) bool {
	switch {
	case path.Clean(n.File) != path.Clean(old.File) || n.Action == memoir.NoteDeleted:
		return false
	case n.Action == memoir.NoteFile:
		return old.Action == memoir.NoteFile || old.Action == memoir.NoteDeleted
	}
	return bareLine(n).Text == bareLine(old).Text && old.Action != n.Action &&
		(old.Action == memoir.NoteAdded || old.Action == memoir.NoteRemoved)
}

// tally is how a command's line tells how often it ran, which grows with each session.
var tally = lazyregexp.New(` ?\((?:ran )?\d+ times\)`)

// bareLine is what a line says and under which heading, without what it rests on.
func bareLine(n memoir.Note) memoir.Note {
	text := tally.ReplaceAllString(uncited(n.Text), "")
	return memoir.Note{File: path.Clean(n.File), Section: n.Section, Text: text}
}

// ownHead is the line with which MEMORY.md begins.
var ownHead = lazyregexp.New(`^From \d+ sessions?, `)

// written reports whether a line is one that the program writes of itself.
func written(n memoir.Note) bool {
	text := strings.TrimSpace(n.Text)
	return n.Section == "" && isHeading(text) && level(text) == 1 || n.Section == headMap || text == headMap ||
		level(n.Section) < 2 && ownHead.MatchString(text)
}

// maxHandLine is how many bytes of one hand-written line the summary shows.
const maxHandLine = 300

// LiveNotes prepares notes for ApplyNotes. It takes out the citations of withdrawn
// sessions, and with them the lines that cite no other session, or that name one of
// them in full: forgetting beats a hand edit. And it adds notes that repeat in the
// summary what people wrote into MEMORY.md, to half of the summary's limit at most.
func LiveNotes(notes []memoir.Note, in Input) []memoir.Note {
	r := in.register()
	var out []memoir.Note
	for _, n := range notes {
		switch n.Action {
		case memoir.NoteAdded:
			line, ok := r.live(n.Text)
			if !ok {
				continue
			}
			n.Text = line
		case memoir.NoteFile:
			var kept strings.Builder
			for line := range strings.Lines(n.Text) {
				if line, ok := r.live(line); ok {
					kept.WriteString(line)
				}
			}
			n.Text = kept.String()
		}
		out = append(out, n)
	}
	_, tokens := in.limits()
	return append(out, repeated(out, 2*tokens)...)
}

// repeated are the notes that repeat in the summary what people added to MEMORY.md, one
// entry a paragraph, the newest within a number of bytes. Code blocks stay away.
func repeated(notes []memoir.Note, room int) []memoir.Note {
	var all []memoir.Note
	fenced := false
	after := "" // the line of MEMORY.md that the last entry ends with
	for _, n := range notes {
		text := strings.TrimSpace(n.Text)
		if n.Action != memoir.NoteAdded || path.Clean(n.File) != memoir.MemoryFile {
			continue
		}
		if fence(text) {
			fenced = !fenced
			continue
		}
		if fenced || text == "" || isHeading(text) || text[0] == '|' || strings.Trim(text, "-*_= ") == "" ||
			removedLater(notes, n) {
			continue
		}
		joined := after != "" && n.After == after && !isEntry(text) && !strings.HasPrefix(n.Text, "\n")
		after = n.Text
		if joined && len(all) > 0 {
			all[len(all)-1].Text += " " + text
			continue
		}
		n.File, n.After, n.Section = memoir.SummaryFile, "", summarySection(n.Section)
		n.Text = "- " + withoutMark(uncited(tame(text)))
		all = append(all, n)
	}
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

// removedLater reports whether a person took an added line out again.
func removedLater(notes []memoir.Note, added memoir.Note) bool {
	want := uncited(added.Text)
	return slices.ContainsFunc(notes, func(n memoir.Note) bool {
		return n.Action == memoir.NoteRemoved && n.ID > added.ID && path.Clean(n.File) == memoir.MemoryFile &&
			uncited(n.Text) == want
	})
}

// summarySection is the section of the summary that a section of MEMORY.md feeds.
func summarySection(heading string) string {
	for _, part := range briefing {
		if slices.Contains(part.from, heading) {
			return part.heading
		}
	}
	return headByHand
}

// notesBytes is how many bytes hand-written text may add to a file's limit: what
// a person wrote is not cut.
func notesBytes(notes []memoir.Note) (n int) {
	for _, note := range notes {
		if note.Action == memoir.NoteAdded || note.Action == memoir.NoteFile {
			n += len(note.Text) + len(headByHand) + 4
		}
	}
	return n
}

// noteBytesOf is how many bytes of a file hand-written lines take.
func noteBytesOf(notes []memoir.Note, file string) (n int) {
	for _, note := range notes {
		if note.Action == memoir.NoteAdded && path.Clean(note.File) == file {
			n += len(note.Text) + 1
		}
	}
	if n > 0 {
		n += len(headByHand) + 3
	}
	return n
}
