package consolidate

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
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
	kept := ApplyNotes(c, notes)
	if n := citedOf(in.Lost, kept.MemoryMD) - citedOf(in.Lost, c.MemoryMD); n > 0 {
		kept.MemoryMD = recounted(kept.MemoryMD, n, in.Current.MemoryMD)
	}
	return kept
}

// citedOf counts those of the sessions that a text cites.
func citedOf(keys []string, text string) (n int) {
	short := map[string]bool{}
	for line := range strings.Lines(text) {
		for _, id := range cites(line) {
			short[id] = true
		}
	}
	for _, key := range keys {
		alone := Input{Known: []string{key}}.register()
		for id := range short {
			if alone.cited(id) {
				n++
				break
			}
		}
	}
	return n
}

// learned is what MEMORY.md says first: of how many sessions it is, and from when.
var learned = lazyregexp.New(`(?m)^Learned from (\d+) sessions? \((\d{4}-\d\d-\d\d)(?: to (\d{4}-\d\d-\d\d))?\)`)

// recounted has the head of a memory count some sessions more, which an earlier memory
// was of, too.
func recounted(text string, more int, earlier string) string {
	now, before := learned.FindStringSubmatch(text), learned.FindStringSubmatch(earlier)
	if now == nil || before == nil {
		return text
	}
	n, err := strconv.Atoi(now[1])
	if err != nil {
		return text
	}
	when := min(now[2], before[2])
	if last := max(now[2], now[3], before[2], before[3]); last != when {
		when += " to " + last
	}
	return strings.Replace(text, now[0], fmt.Sprintf("Learned from %s (%s)", plural(n+more, "session"), when), 1)
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
	for _, name := range slices.Sorted(mapKeys(files.text)) {
		if _, file, ok := skillPath(name); !ok || file != skillFile || !rests(files.get(name), resting, with) {
			continue
		}
		for _, other := range slices.Sorted(mapKeys(files.text)) {
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
		case slices.ContainsFunc(cites(line), sessions.cited):
			return false
		}
	}
	return some
}
