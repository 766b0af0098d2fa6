package memory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// around is how many unchanged lines a unified diff shows on each side of a change.
const around = 3

// Change is how one file differs between two generations.
type Change struct {
	Path           string
	Created        bool   // only the later one has it
	Deleted        bool   // only the earlier one has it
	Binary         bool   // it is not text, and is named only
	Added, Removed int    // lines
	Text           string // as a unified diff
}

// Changes lists how two generations differ, by path.
func Changes(before, after Files) []Change {
	var changes []Change
	for _, path := range union(before, after) {
		a, inA := before[path]
		c, inC := after[path]
		if inA && inC && bytes.Equal(a, c) {
			continue
		}
		changes = append(changes, change(path, a, c, inA, inC))
	}
	return changes
}

func change(path string, a, c []byte, inA, inC bool) Change {
	out := Change{Path: path, Created: !inA, Deleted: !inC}
	from, to := "a/"+path, "b/"+path
	if !inA {
		from = "/dev/null"
	}
	if !inC {
		to = "/dev/null"
	}
	if !utf8.Valid(a) || !utf8.Valid(c) {
		out.Binary, out.Text = true, fmt.Sprintf("Binary files %s and %s differ\n", from, to)
		return out
	}
	lines := compareLines(splitLines(string(a)), splitLines(string(c)))
	for _, l := range lines {
		out.Added += btoi(l.op == '+')
		out.Removed += btoi(l.op == '-')
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	writeHunks(&b, lines)
	out.Text = b.String()
	return out
}

// Diff writes how two generations differ as a unified diff, by path; "" if they
// do not. Files that are not text are named only.
func Diff(before, after Files) string {
	var b strings.Builder
	for _, change := range Changes(before, after) {
		b.WriteString(change.Text)
	}
	return b.String()
}

// union lists the paths of both in order.
func union(a, b Files) []string {
	paths := map[string]bool{}
	for path := range a {
		paths[path] = true
	}
	for path := range b {
		paths[path] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

// splitLines cuts a text into lines that keep their newline, so that a missing
// last one shows.
func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

func writeHunks(b *strings.Builder, lines []line) {
	for start := 0; start < len(lines); {
		if lines[start].op == ' ' {
			start++
			continue
		}
		first := max(0, start-around)
		last, end := start, start // end: behind the last change of this hunk
		for ; last < len(lines) && last-end < 2*around; last++ {
			if lines[last].op != ' ' {
				end = last + 1
			}
		}
		stop := min(len(lines), end+around)
		writeHunk(b, lines, first, stop)
		start = stop
	}
}

func writeHunk(b *strings.Builder, lines []line, first, stop int) {
	var oldAt, newAt, oldLen, newLen int
	for i, l := range lines[:stop] {
		if i < first {
			oldAt, newAt = oldAt+btoi(l.op != '+'), newAt+btoi(l.op != '-')
		} else {
			oldLen, newLen = oldLen+btoi(l.op != '+'), newLen+btoi(l.op != '-')
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(oldAt, oldLen), span(newAt, newLen))
	for _, l := range lines[first:stop] {
		b.WriteByte(l.op)
		b.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span writes a range of lines: numbered from 1, an empty one by the line before it.
func span(before, length int) string {
	if length == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, length)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
