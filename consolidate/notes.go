package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

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

// repeated are the notes that repeat in the summary what people added to MEMORY.md and left
// there, one entry a paragraph, the newest within a number of bytes. Code and tables stay away.
func repeated(notes []memoir.Note, room int) []memoir.Note {
	removed := map[string]int{} // the last note that takes a line out
	for i, n := range notes {
		if n.Action == memoir.NoteRemoved && path.Clean(n.File) == memoir.MemoryFile {
			removed[uncited(n.Text)] = i
		}
	}
	var all []memoir.Note
	fenced := false
	after := "" // the line of MEMORY.md that the last entry ends with
	for i, n := range notes {
		if n.Action != memoir.NoteAdded || path.Clean(n.File) != memoir.MemoryFile || removed[uncited(n.Text)] > i {
			continue
		}
		switch text := strings.TrimSpace(n.Text); {
		case fence(text):
			fenced = !fenced
		case fenced, isHeading(text), strings.Trim(text, "-*_= ") == "", text[0] == '|':
		case after != "" && n.After == after && !isEntry(text) && !strings.HasPrefix(n.Text, "\n"):
			all[len(all)-1].Text += " " + text
			after = n.Text
		default:
			after = n.Text
			n.File, n.After, n.Section = memoir.SummaryFile, "", summarySection(n.Section)
			n.Text = "- " + withoutMark(uncited(tame(text)))
			all = append(all, n)
		}
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

// summarySection is the section of the summary that a section of MEMORY.md feeds.
func summarySection(heading string) string {
	for _, part := range briefing {
		if slices.Contains(part.from, heading) {
			return part.heading
		}
	}
	return headByHand
}

// noteBytes is how many bytes hand-written text may add to a file, "" for any: what a person
// wrote is not cut.
func noteBytes(notes []memoir.Note, file string) (n int) {
	for _, note := range notes {
		byHand := note.Action == memoir.NoteAdded || note.Action == memoir.NoteFile
		if byHand && (file == "" || path.Clean(note.File) == file) {
			n += len(note.Text) + len("\n\n\n")
		}
	}
	if n > 0 {
		n += len("\n" + headByHand + "\n\n")
	}
	return n
}
