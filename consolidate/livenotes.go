package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
)

// maxHandLine is how many bytes of one hand-written line the briefing shows.
const maxHandLine = 300

// LiveNotes prepares notes for ApplyNotes. It takes out the citations of
// withdrawn sessions, and with them the lines that rest on no other session, or
// that name one of them in full: forgetting beats a hand edit. Lines that cite
// sessions which are inputs, selected or not, stay, as does everything else that
// a person wrote. And it adds notes that bring the lines which people wrote into
// MEMORY.md into the briefing, which they fill to half of its limit at most.
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
	return append(out, told(out, orDefault(in.SummaryTokens, DefaultSummaryTokens)*2)...)
}

// told are the notes that repeat in the briefing what people wrote into
// MEMORY.md: rules first, then the newest, within a number of bytes. A paragraph
// of several lines becomes one entry.
func told(notes []memoir.Note, room int) []memoir.Note {
	notes = slices.Clone(notes)
	slices.SortStableFunc(notes, func(a, b memoir.Note) int { return cmp.Compare(a.ID, b.ID) })
	var all []memoir.Note
	fenced := false
	after := "" // the line of MEMORY.md that the last entry ends with
	for _, n := range notes {
		if n.Action != memoir.NoteAdded || path.Clean(n.File) != memoryFile {
			continue
		}
		text := strings.TrimSpace(n.Text)
		if fence(text) {
			fenced = !fenced
			continue
		}
		if fenced || text == "" || isHeading(text) || n.Section == headSessions || text[0] == '|' || strings.Trim(text, "-*_= ") == "" {
			continue
		}
		if laterRemoved(notes, n) {
			continue
		}
		joined := after != "" && n.After == after && !isEntry(text) && !strings.HasPrefix(n.Text, "\n")
		after = n.Text
		if joined && len(all) > 0 {
			all[len(all)-1].Text += " " + text
			continue
		}
		n.File, n.After = summaryFile, ""
		n.Section = briefingOf(n.Section)
		n.Text = "- " + strings.TrimSpace(listMark.ReplaceAllString(text, ""))
		all = append(all, n)
	}
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
		all[i].Text = cutLine(tame(all[i].Text))
	}
	slices.SortStableFunc(order, func(a, b int) int {
		ruleA, ruleB := all[a].Section == headWants, all[b].Section == headWants
		switch {
		case ruleA && !ruleB:
			return -1
		case ruleB && !ruleA:
			return 1
		}
		return b - a
	})
	room -= len(headByHand) + 3
	fits := make([]bool, len(all))
	for _, i := range order {
		if size := len(all[i].Text) + 1; size <= room {
			fits[i] = true
			room -= size
		}
	}
	var out []memoir.Note
	last := map[string]string{}
	for i, n := range all {
		if fits[i] {
			n.After = last[n.Section]
			last[n.Section] = n.Text
			out = append(out, n)
		}
	}
	return out
}

// laterRemoved reports whether a person took an added line out again.
func laterRemoved(notes []memoir.Note, added memoir.Note) bool {
	want := uncited(added.Text, looksOwn)
	return slices.ContainsFunc(notes, func(n memoir.Note) bool {
		return n.Action == memoir.NoteRemoved && n.ID > added.ID && path.Clean(n.File) == memoryFile && uncited(n.Text, looksOwn) == want
	})
}

// briefingOf is the section of the briefing that a section of MEMORY.md feeds.
func briefingOf(section string) string {
	switch section {
	case headPreferences:
		return headWants
	case headCommands:
		return headBuild
	case headFailures:
		return headAvoid
	case headOpen:
		return headEnds
	}
	return headByHand
}

// cutLine shortens a line, not its citations.
func cutLine(line string) string {
	bracket := lastBracket.FindString(line)
	return strings.TrimRight(cut(strings.TrimSpace(strings.TrimSuffix(line, bracket)), maxHandLine)+" "+bracket, " ")
}

// toldBytes is how much of the briefing's limit hand-written lines take.
func toldBytes(notes []memoir.Note) int {
	n := 0
	for _, note := range notes {
		if note.Action == memoir.NoteAdded && path.Clean(note.File) == summaryFile {
			n += len(note.Text) + 1
		}
	}
	if n > 0 {
		n += len(headByHand) + 3
	}
	return n
}
