package memory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

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
