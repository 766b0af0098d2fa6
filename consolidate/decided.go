package consolidate

import (
	"path"
	"regexp"
	"strings"

	"memoir"
)

// Decided returns those of the notes on a restored memory that say what a person
// decided by restoring it. Left out is what every consolidation writes anew, and in
// which any two memories differ: head, list of sessions, map, and how often or by
// whom a line was said that both have.
func Decided(notes []memoir.Note) []memoir.Note {
	removed, added := map[memoir.Note]bool{}, map[memoir.Note]bool{}
	for _, n := range notes {
		switch n.Action {
		case memoir.NoteRemoved:
			removed[bareLine(n)] = true
		case memoir.NoteAdded:
			added[bareLine(n)] = true
		}
	}
	var out []memoir.Note
	for _, n := range notes {
		line := n.Action == memoir.NoteAdded || n.Action == memoir.NoteRemoved
		if line && (written(n) || removed[bareLine(n)] && added[bareLine(n)]) {
			continue
		}
		out = append(out, n)
	}
	return out
}

// tally is how a line tells how often something was seen, which grows with each session.
var tally = regexp.MustCompile(` ?\([a-z]+ \d+ times\)| in \d+ (?:of \d+ )?sessions\b`)

// bareLine is what a line says and under which heading, without what it rests on.
func bareLine(n memoir.Note) memoir.Note {
	text := tally.ReplaceAllString(uncited(n.Text, looksOwn), "")
	return memoir.Note{File: path.Clean(n.File), Section: n.Section, Text: text}
}

// ownHead are the lines with which MEMORY.md begins.
var ownHead = regexp.MustCompile(`^Learned from \d+ sessions? \(|^Procedures that recur are written down in skills/ \(\d+\)\.$`)

// written reports whether a line is one that the program writes of itself.
func written(n memoir.Note) bool {
	text := strings.TrimSpace(n.Text)
	switch path.Clean(n.File) {
	case memoryFile:
		if n.Section == headSessions || text == headSessions || level(n.Section) < 2 && ownHead.MatchString(text) {
			return true
		}
	case summaryFile:
		if n.Section == headMap || text == headMap {
			return true
		}
	}
	return n.Section == "" && isHeading(text) && level(text) == 1
}
