package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is a result in columns. On a terminal that is too narrow it gives up
// room as narrower says; a pipe gets all of it.
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

// none stands in a cell for what there is not.
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

// table writes a table; one without rows is not written at all.
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
