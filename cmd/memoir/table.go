package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/pipeline"
)

// table is a result in columns. On a terminal that is too narrow, the widest columns of text are cut.
// Ids, paths and dates are never cut, since they are copied; a pipe gets everything.
type table struct {
	lines [][]string // the first is the heading
}

const none = "-"

// leastColumn is the minimal width of a column that is cut, in characters: that of a date.
const leastColumn = 16

func newTable(head ...string) *table { return &table{lines: [][]string{head}} }

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = oneLine(fmt.Sprint(cell))
	}
	t.lines = append(t.lines, row)
}

// table writes a table, unless it has no rows.
func (u *ui) table(t *table) {
	if len(t.lines) > 1 {
		head, rows, _ := strings.Cut(t.format(u.width()), "\n")
		u.paint("1", head+"\n")
		u.write(rows)
	}
}

// format lays the table out for a number of columns, 0 for no limit.
func (t *table) format(width int) string {
	widths := make([]int, len(t.lines[0]))
	text := make([]int, len(widths)) // the same of columns that can be cut, else 0
	over := -width - 2
	for i := range widths {
		for n, line := range t.lines {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
			if n > 0 && strings.Contains(line[i], " ") {
				text[i] = 1
			}
		}
		text[i] *= widths[i]
		over += widths[i] + 2
	}
	for ; width > 0 && over > 0; over-- {
		widest := slices.Index(text, slices.Max(text))
		if text[widest] <= leastColumn {
			break
		}
		text[widest]--
		widths[widest]--
	}
	var b strings.Builder
	for _, line := range t.lines {
		text := ""
		for i, cell := range line {
			text += fmt.Sprintf("%-*s", widths[i]+2, memoir.Cut(cell, widths[i]))
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return b.String()
}

// count returns a number with its noun: "1 session", "3 sessions".
func count(n int, what string) string { return memoir.Count(n, what) }

// byRule lists counts in the order of their names: "aws-access-token 1, github-pat 2".
func byRule[K ~string](counts map[K]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

func byKind(keys []string) map[string]int {
	n := map[string]int{}
	for _, key := range keys {
		kind := "session"
		switch {
		case memoir.IsJournal(key):
			kind = "journal line"
		case memoir.IsEntry(key):
			kind = "note"
		case memoir.IsKept(key):
			kind = "conversation"
		}
		n[kind]++
	}
	return n
}

// kinds counts keys by kind, and lines and names of files: "1 session, 2 notes". An entry of a journal counts once.
func kinds(keys []string, lines []pipeline.FoundLine) string {
	n := byKind(keys)
	own := n["journal line"]
	for _, line := range lines {
		switch {
		case line.Line == 0:
			n["file name"]++
		case own > 0 && strings.HasPrefix(line.Path, "journal/"):
			own--
		default:
			n["line"]++
		}
	}
	var parts []string
	for _, kind := range []string{"session", "conversation", "note", "journal line", "line", "file name"} {
		if n[kind] > 0 {
			parts = append(parts, count(n[kind], kind))
		}
	}
	if last := len(parts) - 1; last > 0 && n["line"]+n["file name"] > 0 {
		parts[last] = "and " + parts[last] + " with the text in files of the memory"
	}
	return strings.Join(parts, ", ")
}

// when formats a time for tables: local, to the minute, "-" if it is zero.
func when(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.Local().Format("2006-01-02 15:04")
}

// zoned formats a time for messages: when with its zone.
func zoned(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// whenKnown is when for a time that may be unknown.
func whenKnown(t *time.Time) string { return when(*cmp.Or(t, &time.Time{})) }

// size formats a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	case n < 1000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB"
}

// list returns a slice that is not nil, so that JSON has an array.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func orDash(text string) string { return cmp.Or(text, none) }

func shortened(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}
