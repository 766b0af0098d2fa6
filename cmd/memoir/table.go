package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// table is a result in columns. On a terminal that is too narrow, the steps of narrower are applied
// in order until it fits; a pipe gets all of it.
type table struct {
	head     []string
	rows     [][]string
	narrower []step
}

// step narrows one column.
type step struct {
	column string
	to     int // columns of the terminal; 0: it is left out
}

// none is the text of an empty cell.
const none = "-"

// below, as a step, puts the last column, which must not be cut, on a line of its own.
const below = -1

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = oneLine(fmt.Sprint(cell))
	}
	t.rows = append(t.rows, row)
}

// table writes a table, unless it has no rows.
func (u *ui) table(t *table) {
	if len(t.rows) > 0 {
		u.write(t.format(u.width()))
	}
}

// format lays the table out for a number of columns, 0 for no limit.
func (t *table) format(width int) string {
	lines := append([][]string{t.head}, t.rows...)
	natural := make([]int, len(t.head))
	for _, line := range lines {
		for i, cell := range line {
			natural[i] = max(natural[i], utf8.RuneCountInString(cell))
		}
	}
	widths, last := slices.Clone(natural), len(t.head)-1
	ownLine := false
	for _, s := range t.narrower {
		over := taken(widths) - width
		if width == 0 || over <= 0 {
			break
		}
		switch i := slices.Index(t.head, s.column); {
		case s.to == below:
			widths[last], ownLine = 0, true
		case s.to == 0:
			widths[i] = 0
		default:
			widths[i] = max(widths[i]-over, min(s.to, widths[i]))
		}
	}
	if spare := width - taken(widths); spare > 0 && widths[last] > 0 {
		widths[last] = min(natural[last], widths[last]+spare)
	}
	var b strings.Builder
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			if widths[i] > 0 {
				text += pad(cut(cell, widths[i]), widths[i]+2)
			}
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
		if ownLine && line[last] != none {
			b.WriteString("  " + line[last] + "\n")
		}
	}
	return b.String()
}

// taken is the width of a line: its columns with two blanks between them.
func taken(widths []int) int {
	sum := 0
	for _, w := range widths {
		if w > 0 {
			sum += w + 2
		}
	}
	return sum - 2
}

func pad(cell string, width int) string {
	return cell + strings.Repeat(" ", width-utf8.RuneCountInString(cell))
}

// cut shortens a cell to width.
func cut(cell string, width int) string {
	if utf8.RuneCountInString(cell) <= width {
		return cell
	}
	return string([]rune(cell)[:width-1]) + "…"
}

// count says how many: "1 session", "3 sessions".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") {
		what = strings.TrimSuffix(what, "y") + "ie"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// byRule lists counts in the order of their names: "aws-access-token 1, github-pat 2".
func byRule[K ~string](counts map[K]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// when is a time as tables show it: UTC, to the minute, "-" if it is zero.
func when(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// age is the time since t, in one unit: "12m", "3d"; "-" if t is zero.
func age(now, t time.Time) string {
	const day = 24 * time.Hour
	ago := now.Sub(t)
	switch {
	case t.IsZero():
		return none
	case ago < time.Minute:
		return "now"
	case ago < 2*time.Hour:
		return fmt.Sprintf("%dm", ago/time.Minute)
	case ago < 2*day:
		return fmt.Sprintf("%dh", ago/time.Hour)
	case ago < 60*day:
		return fmt.Sprintf("%dd", ago/day)
	case ago < 2*365*day:
		return fmt.Sprintf("%dw", ago/(7*day))
	}
	return fmt.Sprintf("%dy", ago/(365*day))
}

// size is a number of bytes as people read it.
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

// ago is the time since t: "12m ago".
func ago(now, t time.Time) string {
	if now.Sub(t) < time.Minute {
		return "just now"
	}
	return age(now, t) + " ago"
}

// until is the time until t: "in 12m (14:03)", or "at once".
func until(now time.Time, t *time.Time) string {
	if t == nil || !t.After(now) {
		return "at once"
	}
	return "in " + strings.Replace(age(*t, now), "now", "less than 1m", 1) + " (" + clock(now, *t) + ")"
}

// clock is a time of today without its date, any other with it. Both are UTC.
func clock(now, t time.Time) string {
	if now.UTC().Truncate(24 * time.Hour).Equal(t.UTC().Truncate(24 * time.Hour)) {
		return t.UTC().Format("15:04")
	}
	return when(t)
}
