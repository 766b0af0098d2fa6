package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// KeepLost puts back into a consolidation what the memory that is live now has of sessions
// that are lost (Input.Lost): lines and skills that rest on those alone. Nothing else can
// tell them, and nobody wanted them out. What stands there already is not put twice.
func KeepLost(c memoir.Consolidation, in Input) memoir.Consolidation {
	there := open(c)
	notes := slices.DeleteFunc(lostNotes(in), func(n memoir.Note) bool { return n.Action == memoir.NoteFile && there.has(n.File) })
	if len(notes) == 0 {
		return c
	}
	return ApplyNotes(c, notes)
}

// lostNotes are what KeepLost puts back. Lines of other sessions' that people took out are
// not among them: those are not in the live memory.
func lostNotes(in Input) []memoir.Note {
	if len(in.Lost) == 0 || in.Current == nil {
		return nil
	}
	gone := in // as if they had been withdrawn
	gone.Withdrawn = slices.Concat(in.Withdrawn, in.Lost)
	gone.Known = slices.DeleteFunc(slices.Clone(in.Known), func(key string) bool { return slices.Contains(in.Lost, key) })
	without, with := gone.register(), in.register()
	resting := func(line string) bool { // on lost sessions alone
		_, stays := without.live(line)
		if stays {
			return false
		}
		_, may := with.live(line)
		return may
	}
	var notes []memoir.Note
	files := open(*in.Current)
	for _, name := range []string{memoryFile, summaryFile} {
		section, after := "", ""
		for line := range strings.Lines(files.get(name)) {
			line = strings.TrimRight(line, " \t\r\n")
			switch {
			case line == "":
				continue
			case isHeading(line):
				section, after = line, ""
				continue
			case resting(line):
				notes = append(notes, memoir.Note{File: name, Action: memoir.NoteAdded, Section: section, After: after, Text: line})
			}
			after = line
		}
	}
	for _, name := range sortedKeys(files.text) {
		if _, file, ok := skillPath(name); !ok || file != skillFile || !rests(files.get(name), resting, with) {
			continue
		}
		for _, other := range sortedKeys(files.text) {
			if strings.HasPrefix(other, path.Dir(name)+"/") {
				notes = append(notes, memoir.Note{File: other, Action: memoir.NoteFile, Text: files.get(other)})
			}
		}
	}
	return notes
}

// rests reports whether a text has a line that rests on lost sessions alone, and none that
// rests on another.
func rests(text string, resting func(line string) bool, sessions register) bool {
	some := false
	for line := range strings.Lines(text) {
		switch {
		case resting(line):
			some = true
		case slices.ContainsFunc(idsIn(line), sessions.cited):
			return false
		}
	}
	return some
}
