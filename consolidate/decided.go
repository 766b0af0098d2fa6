package consolidate

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"memoir"
)

// Decided returns those of the notes on a restored memory that say what a person
// decided by restoring it.
//
// What is removed stays away, except what every consolidation writes anew, and in
// which any two memories differ: head, map, and how often or by
// whom a line was said that both have. What is added comes from the sessions again,
// or is in the memory that a model goes on from; so it counts only where an earlier
// note would take it away.
func Decided(notes, earlier []memoir.Note) []memoir.Note {
	added := map[memoir.Note]bool{}
	for _, n := range notes {
		if n.Action == memoir.NoteAdded {
			added[bareLine(n)] = true
		}
	}
	var out []memoir.Note
	for _, n := range notes {
		ours := n.Action == memoir.NoteRemoved && (written(n) || added[bareLine(n)]) ||
			n.Action == memoir.NoteAdded || n.Action == memoir.NoteFile
		if !ours || slices.ContainsFunc(earlier, func(old memoir.Note) bool { return against(n, old) }) {
			out = append(out, n)
		}
	}
	return out
}

// against reports whether an earlier note would undo what a note does.
func against(n, old memoir.Note) bool {
	if path.Clean(n.File) != path.Clean(old.File) {
		return false
	}
	switch n.Action {
	case memoir.NoteFile:
		return old.Action == memoir.NoteFile || old.Action == memoir.NoteDeleted
	case memoir.NoteAdded:
		return old.Action == memoir.NoteRemoved && bareLine(n).Text == bareLine(old).Text
	case memoir.NoteRemoved:
		return old.Action == memoir.NoteAdded && bareLine(n).Text == bareLine(old).Text
	}
	return false
}

// tally is how a line tells how often something was seen, which grows with each session.
var tally = regexp.MustCompile(` ?\([a-z]+ \d+ times\)| in \d+ (?:of \d+ )?sessions\b`)

// bareLine is what a line says and under which heading, without what it rests on.
func bareLine(n memoir.Note) memoir.Note {
	text := tally.ReplaceAllString(uncited(n.Text), "")
	return memoir.Note{File: path.Clean(n.File), Section: n.Section, Text: text}
}

// ownHead is the line with which MEMORY.md begins.
var ownHead = regexp.MustCompile(`^From \d+ sessions?, `)

// written reports whether a line is one that the program writes of itself.
func written(n memoir.Note) bool {
	text := strings.TrimSpace(n.Text)
	switch path.Clean(n.File) {
	case memoryFile:
		if level(n.Section) < 2 && ownHead.MatchString(text) {
			return true
		}
	case summaryFile:
		if n.Section == headMap || text == headMap {
			return true
		}
	}
	return n.Section == "" && isHeading(text) && level(text) == 1
}
