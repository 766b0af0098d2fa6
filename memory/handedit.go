package memory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"memoir"
)

// HandEdits converts changed files to hand edits, which outlive generations.
//
// MEMORY.md and memory_summary.md are compared line by line. Blank lines and space at the end of a line are ignored; a
// changed line is one removed and one added. The text of an added line below a blank line begins with a line break. A
// file's removals come before its additions, so that a moved line is not removed after it was added. The deletion of
// one of the two files removes none of its lines: the next run writes it again. Any other file becomes one edit.
func HandEdits(projectID string, changed []Edit, at time.Time) []memoir.HandEdit {
	var edits []memoir.HandEdit
	add := func(path string, action memoir.EditAction, l placedLine) {
		edits = append(edits, memoir.HandEdit{
			ProjectID: projectID, File: path, Action: action, Section: l.section, After: l.after, Text: l.text, At: at,
		})
	}
	for _, edit := range changed {
		switch {
		case edit.Path == memoir.MemoryFile || edit.Path == memoir.SummaryFile:
			if len(bytes.Trim(edit.Now, " \t\r\n\x00")) == 0 {
				continue // deleted, or emptied: the next generation has it again
			}
			removed, added := lineChanges(edit.Published, edit.Now)
			for _, l := range removed {
				add(edit.Path, memoir.EditRemoved, l)
			}
			for _, l := range added {
				if l.apart {
					l.text = "\n" + l.text
				}
				add(edit.Path, memoir.EditAdded, l)
			}
		case edit.Path == StatementsFile: // data that each generation makes again
		case edit.Now == nil:
			add(edit.Path, memoir.EditDeleted, placedLine{})
		case edit.Published == nil || !bytes.Equal(edit.Published, edit.Now):
			add(edit.Path, memoir.EditFile, placedLine{text: string(edit.Now)})
		}
	}
	return edits
}

// A placedLine is a line that is not blank, without the space at its end, and its place.
type placedLine struct {
	section string // the heading above it
	after   string // the line before it in that section
	text    string
	apart   bool // a blank line is above it, and no heading above that
	heading bool
}

// lines lists the lines of a text that are not blank, and its headings.
func lines(text []byte) (all []placedLine, headings map[string]bool) {
	headings = map[string]bool{}
	var section, after string
	blank, fenced := false, false
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimRight(l, " \t\r\n"); l == "" {
			blank = true
			continue
		}
		trimmed := strings.TrimSpace(l)
		fence := strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")
		fenced = fenced != fence
		here := placedLine{section, after, l, blank && after != "", !fenced && memoir.IsHeading(l)}
		all = append(all, here)
		if after, blank = l, false; here.heading {
			section, after = trimmed, ""
			headings[trimmed] = true
		}
	}
	return all, headings
}

// lineChanges lists the lines that only one of two texts has, each with its place. Lines are equal under the
// same heading, or under a heading that only one of the texts has: it may be renamed. A line that occurred
// twice and occurs once now was not removed, since a edit would remove the other one, too. The order within a
// section is ignored.
func lineChanges(before, after []byte) (removed, added []placedLine) {
	old, had := lines(before)
	now, has := lines(after)
	type key struct{ section, text string }
	keyOf := func(l placedLine) key {
		if l.heading || !had[l.section] || !has[l.section] {
			return key{"", l.text}
		}
		return key{l.section, l.text}
	}
	times := map[key]int{}
	for _, l := range old {
		times[keyOf(l)]++
	}
	stays := map[key]bool{}
	for _, l := range now {
		stays[keyOf(l)] = true
		if times[keyOf(l)]--; times[keyOf(l)] < 0 {
			added = append(added, l)
		}
	}
	for _, l := range old {
		if !stays[keyOf(l)] {
			removed = append(removed, l)
		}
	}
	return removed, added
}

// Change is the difference of one file between two generations.
type Change struct {
	Path           string
	Created        bool   // only the later generation has it
	Deleted        bool   // only the earlier generation has it
	Binary         bool   // not UTF-8: Text has only the file names
	Added, Removed int    // lines
	Text           string // unified diff
}

// Changes lists the changed files between two generations, by path.
func Changes(before, after Files) []Change {
	var changes []Change
	for _, e := range Differences(before, after) {
		changes = append(changes, change(e))
	}
	return changes
}

func change(e Edit) Change {
	out := Change{Path: e.Path, Created: e.Published == nil, Deleted: e.Now == nil}
	from, to := "a/"+e.Path, "b/"+e.Path
	if out.Created {
		from = "/dev/null"
	}
	if out.Deleted {
		to = "/dev/null"
	}
	if !utf8.Valid(e.Published) || !utf8.Valid(e.Now) {
		out.Binary, out.Text = true, fmt.Sprintf("Binary files %s and %s differ\n", from, to)
		return out
	}
	// The first line repeats both names.
	_, text, _ := bytes.Cut(diff.Diff(from, e.Published, to, e.Now), []byte("\n"))
	out.Text = string(text)
	for _, l := range strings.Split(out.Text, "\n")[min(2, strings.Count(out.Text, "\n")):] {
		switch {
		case strings.HasPrefix(l, "+"):
			out.Added++
		case strings.HasPrefix(l, "-"):
			out.Removed++
		}
	}
	return out
}

// Differences lists the edited files, by path.
func Differences(before, after Files) []Edit {
	paths := map[string]bool{}
	for path := range before {
		paths[path] = true
	}
	for path := range after {
		paths[path] = true
	}
	var edits []Edit
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, had := before[path]
		now, has := after[path]
		if had != has || !bytes.Equal(was, now) {
			edits = append(edits, Edit{Path: path, Published: present(was, had), Now: present(now, has)})
		}
	}
	return edits
}

// present returns nil for a missing file, and never nil for an empty one.
func present(content []byte, exists bool) []byte {
	if exists && content == nil {
		return []byte{}
	}
	return content
}
