package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/pipeline"
)

// table is a result in columns. On a terminal that is too narrow, the widest columns of text are cut, and spare columns
// left out. Other ids, paths and dates are never cut, since they are copied; a pipe gets everything.
type table struct {
	lines [][]string // the first is the heading
}

const none = "-"

// leastColumn is the minimal width of a column that is cut, in characters: that of a date.
const leastColumn = 16

func newTable(head ...string) *table { return &table{lines: [][]string{head}} }

func (t *table) row(cells ...any) {
	t.lines = append(t.lines, memoir.Map(cells, func(cell any) string { return oneLine(fmt.Sprint(cell)) }))
}

// table writes a table, unless it has no rows.
func (u *ui) table(t *table) {
	if len(t.lines) < 2 {
		return
	}
	for _, line := range t.lines[1:] {
		for i, cell := range line {
			if below, ok := strings.CutPrefix(cell, u.home+"/"); ok && u.home != "" {
				line[i] = "~/" + below
			}
		}
	}
	left := t.narrow(u.width())
	head, rows, _ := strings.Cut(t.format(u.width()), "\n")
	u.paint("1", head+"\n")
	u.write(rows)
	if len(left) > 0 {
		u.sayHint("a wider terminal, a pipe or --json also shows: " + strings.Join(left, ", "))
	}
}

// spare are the columns that a table goes without on a narrow terminal, by its first column, in the order in which they
// go.
var spare = map[string][]string{"project": {"memory", "generation"}, "session": {"size", "project"}}

// narrow leaves out spare columns until a table fits a width, and returns their heads.
func (t *table) narrow(width int) (left []string) {
	for _, name := range spare[t.lines[0][0]] {
		over := -width - 2
		for i := range t.lines[0] {
			w, text, _ := t.column(i)
			if text {
				w = min(w, leastColumn)
			}
			over += w + 2
		}
		if i := slices.Index(t.lines[0], name); width > 0 && over > 0 && i > 0 {
			left = append(left, name)
			for n, line := range t.lines {
				t.lines[n] = slices.Delete(line, i, i+1)
			}
		}
	}
	return left
}

// column returns the width of a column, and whether it has texts or paths.
func (t *table) column(i int) (width int, text, paths bool) {
	for n, line := range t.lines {
		width = max(width, utf8.RuneCountInString(line[i]))
		text = text || n > 0 && strings.Contains(line[i], " ")
		paths = paths || strings.HasPrefix(line[i], "~/") || filepath.IsAbs(line[i])
	}
	return width, text, paths && !text
}

// format lays the table out for a number of columns, 0 for no limit.
func (t *table) format(width int) string {
	n := len(t.lines[0])
	widths, text, paths, first := make([]int, n), make([]bool, n), make([]bool, n), make([]bool, n)
	over := -width - 2
	for i := range widths {
		widths[i], text[i], paths[i] = t.column(i)
		over += widths[i] + 2
	}
	which := [][]bool{text}
	if first[0] = true; spare[t.lines[0][0]] != nil {
		which = append(which, paths, first)
	}
	for _, may := range which {
		for widest := 0; width > 0 && over > 0 && widest >= 0; {
			widest = -1
			for i, w := range widths {
				if may[i] && w > leastColumn && (widest < 0 || w > widths[widest]) {
					widest = i
				}
			}
			if widest >= 0 {
				widths[widest]--
				over--
			}
		}
	}
	var b strings.Builder
	for _, line := range t.lines {
		text := ""
		for i, cell := range line {
			if cut := []rune(cell); paths[i] && len(cut) > widths[i] { // its end tells more
				cell = "…" + string(cut[len(cut)-widths[i]+1:])
			}
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
	return strings.Join(memoir.Map(slices.Sorted(maps.Keys(counts)), func(name K) string {
		return fmt.Sprintf("%s %d", name, counts[name])
	}), ", ")
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

// whenKnown is when for a time that may be unknown.
func whenKnown(t *time.Time) string { return when(*cmp.Or(t, &time.Time{})) }

// size formats a number of bytes for people.
func size(n int64) string {
	for i, unit := range []int64{1e9, 1e6, 1e3} {
		if n >= unit {
			return fmt.Sprintf("%.1f %cB", float64(n)/float64(unit), "GMk"[i])
		}
	}
	return fmt.Sprintf("%d B", n)
}

// excerpt cuts a text to maxText characters around a match.
func excerpt(text, match string) string {
	if i := strings.Index(strings.ToLower(text), strings.ToLower(match)); i > maxText/2 && i < len(text) {
		text = "…" + strings.ToValidUTF8(text[i-maxText/2:], "")
	}
	return memoir.Cut(text, maxText)
}

func orDash(text string) string { return cmp.Or(text, none) }

func shortened(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}
