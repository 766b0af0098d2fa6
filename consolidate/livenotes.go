package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

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
		if n.Action != memoir.NoteAdded || path.Clean(n.File) != memoryFile {
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
		n.File, n.After, n.Section = summaryFile, "", summarySection(n.Section)
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
		return n.Action == memoir.NoteRemoved && n.ID > added.ID && path.Clean(n.File) == memoryFile &&
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
