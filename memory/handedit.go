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
// MEMORY.md and memory_summary.md are compared block by block, in their order. Blank lines and space at the end of a
// line are ignored; a changed or moved block is one removed and one added. The place of each is that after all edits
// before it, and a file's removals come before its additions. The text of an added line below a blank line, and of an
// added heading at the end of a section, begins with a line break. The deletion of one of the two files removes none
// of its lines: the next run writes it again. Any other file becomes one edit.
func HandEdits(projectID string, changed []Edit, at time.Time) []memoir.HandEdit {
	var edits []memoir.HandEdit
	for _, edit := range changed {
		n := memoir.HandEdit{ProjectID: projectID, File: edit.Path, At: at}
		switch {
		case edit.Path == memoir.MemoryFile || edit.Path == memoir.SummaryFile:
			if len(bytes.Trim(edit.Now, " \t\r\n\x00")) > 0 { // not deleted or emptied
				edits = append(edits, blockEdits(n, string(edit.Published), string(edit.Now))...)
			}
		case edit.Path == StatementsFile: // data that each generation makes again
		case edit.Now == nil:
			n.Action = memoir.EditDeleted
			edits = append(edits, n)
		case edit.Published == nil || !bytes.Equal(edit.Published, edit.Now):
			n.Action, n.Text = memoir.EditFile, string(edit.Now)
			edits = append(edits, n)
		}
	}
	return edits
}

// blockEdits lists the edits that make one text from another, of the form of n.
func blockEdits(n memoir.HandEdit, before, after string) (edits []memoir.HandEdit) {
	changes := blockChanges(memoir.Blocks(before), memoir.Blocks(after))
	others := map[string]int{}
	for _, c := range changes {
		if c.mark != '+' {
			others[memoir.BlockKey(c.Text)]++
		}
	}
	for _, mark := range []byte("-+") {
		n.Action, n.Section, n.After, n.Nth = memoir.EditRemoved, "", "", 1
		if mark == '+' {
			n.Action = memoir.EditAdded
		}
		seen := map[[2]string]int{}
		for i, c := range changes {
			key := memoir.BlockKey(c.Text)
			head := memoir.IsHeading(c.Text)
			if c.mark == mark {
				if mark == '-' {
					others[key]--
				}
				n.Text, n.Others = c.Text, others[key]
				if mark == '+' {
					others[key]++
					if head && endsSection(changes[i:]) || !head && c.Apart && n.After != "" {
						n.Text = "\n" + n.Text
					}
				}
				edits = append(edits, n)
			}
			if c.mark == ' ' || c.mark == '+' && mark == '+' {
				if n.After = c.Text; head {
					n.Section, n.After = c.Text, ""
				}
				place := [2]string{n.Section, memoir.BlockKey(n.After)}
				seen[place]++
				n.Nth = seen[place]
			}
		}
	}
	return edits
}

// endsSection reports whether no block of an earlier section follows a change.
func endsSection(changes []blockChange) bool {
	next := slices.IndexFunc(changes, func(c blockChange) bool { return c.mark == ' ' })
	return next < 0 || memoir.IsHeading(changes[next].Text)
}

type blockChange struct {
	memoir.Block
	mark byte // that of a unified diff
}

// blockChanges lists the blocks of two texts in order, with what became of them.
func blockChanges(before, after []memoir.Block) (out []blockChange) {
	text := func(blocks []memoir.Block) []byte { // a block a line
		var b bytes.Buffer
		for _, one := range blocks {
			b.WriteString(strings.ReplaceAll(one.Text, "\n", "\x00") + "\n")
		}
		return b.Bytes()
	}
	keep := func(n int) {
		for _, one := range before[:n] {
			out = append(out, blockChange{one, ' '})
		}
		before, after = before[n:], after[n:]
	}
	all := len(before)
	changes := strings.Split(string(diff.Diff("", text(before), "", text(after))), "\n")
	for _, l := range changes[min(3, len(changes)):] {
		var at, n int
		switch {
		case strings.HasPrefix(l, "@@"):
			_, _ = fmt.Sscanf(l, "@@ -%d,%d", &at, &n)
			keep(at - min(n, 1) - (all - len(before)))
		case strings.HasPrefix(l, " "):
			keep(1)
		case strings.HasPrefix(l, "-"):
			out, before = append(out, blockChange{before[0], '-'}), before[1:]
		case strings.HasPrefix(l, "+"):
			out, after = append(out, blockChange{after[0], '+'}), after[1:]
		}
	}
	keep(len(before))
	return out
}

// Change is the difference of one file between two generations.
type Change struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // added, deleted or changed
	Binary  bool   `json:"binary"` // not UTF-8: Diff has only the file names
	Added   int    `json:"added"`  // lines
	Removed int    `json:"removed"`
	Diff    string `json:"diff"` // unified
}

// Changes lists the changed files between two generations, by path.
func Changes(before, after Files) []Change {
	return memoir.Map(Differences(before, after), change)
}

func change(e Edit) Change {
	out := Change{Path: e.Path, Status: "changed"}
	from, to := "a/"+e.Path, "b/"+e.Path
	if e.Published == nil {
		out.Status, from = "added", "/dev/null"
	}
	if e.Now == nil {
		out.Status, to = "deleted", "/dev/null"
	}
	if !utf8.Valid(e.Published) || !utf8.Valid(e.Now) {
		out.Binary, out.Diff = true, fmt.Sprintf("Binary files %s and %s differ\n", from, to)
		return out
	}
	// The first line repeats both names.
	_, text, _ := bytes.Cut(diff.Diff(from, e.Published, to, e.Now), []byte("\n"))
	out.Diff = string(text)
	for _, l := range strings.Split(out.Diff, "\n")[min(2, strings.Count(out.Diff, "\n")):] {
		switch {
		case strings.HasPrefix(l, "+"):
			out.Added++
		case strings.HasPrefix(l, "-"):
			out.Removed++
		}
	}
	return out
}

// A DiffLine is a line of a unified diff. Mark is + for an added line, - for a removed one, @ for a header, or empty.
type DiffLine struct{ Mark, Text string }

// DiffLines returns the lines of a unified diff.
func DiffLines(text string) (out []DiffLine) {
	hunk := false // a removed line may look like a header
	for line := range strings.Lines(text) {
		l := DiffLine{Text: line}
		switch first := line[:1]; first {
		case "+", "-":
			if l.Mark = first; !hunk {
				l.Mark = "@"
			}
		case "@":
			l.Mark, hunk = "@", true
		default:
			hunk = hunk && first == " "
		}
		out = append(out, l)
	}
	return out
}

// Differences lists the edited files, by path.
func Differences(before, after Files) []Edit {
	all := Files{}
	maps.Copy(all, before)
	maps.Copy(all, after)
	var edits []Edit
	for _, path := range all.Paths() {
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
