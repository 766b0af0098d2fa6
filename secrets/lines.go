package secrets

import (
	"sort"
	"strings"
)

// lineIndex locates matches in a text in gitleaks' own way, whose oddities decide
// verdicts: a line contains the line break before it, and a match in the last
// line, when that has no line break, is said to be on a line that begins with the
// whole text.
type lineIndex struct {
	text    string
	built   bool
	breaks  []int // offsets of the line breaks
	verdict map[lineVerdict]bool
	begins  map[*allowlist]*beginnings // of the text, as far as lines begin with it
	last    extent                     // of the last line from the last match on that was asked for
}

// lineVerdict names one answer of lineAllowed.
type lineVerdict struct {
	list       *allowlist
	start, end int
}

func newLineIndex(text string) *lineIndex { return &lineIndex{text: text} }

func (x *lineIndex) build() {
	if x.built {
		return
	}
	x.built = true
	x.breaks = make([]int, 0, strings.Count(x.text, "\n"))
	for i := 0; ; i++ {
		next := strings.IndexByte(x.text[i:], '\n')
		if next < 0 {
			return
		}
		i += next
		x.breaks = append(x.breaks, i)
	}
}

// position returns the line and column that gitleaks gives to an offset: lines
// from 0, columns from 1, the break belonging to the line that it begins.
func (x *lineIndex) position(offset int) (line, column int) {
	x.build()
	line = sort.SearchInts(x.breaks, offset+1)
	if line == 0 {
		return 0, offset + 1
	}
	return line, offset - x.breaks[line-1] + 1
}

// line returns the extent of what gitleaks calls the line of a match.
func (x *lineIndex) line(start, end int) (from, to int) {
	x.build()
	n := len(x.breaks)
	if n == 0 {
		return 0, len(x.text)
	}
	if at := sort.SearchInts(x.breaks, start+1); at < n {
		from, to = 0, x.breaks[at]
		if at > 0 {
			from = x.breaks[at-1]
		}
		if last := sort.SearchInts(x.breaks, end); last < n {
			to = x.breaks[last]
		}
		return from, max(to, end)
	}
	if end < x.last.start || end > x.last.end {
		x.last = extent{end, end}
		for x.last.end < len(x.text) && x.text[x.last.end] != '\n' && x.text[x.last.end] != '\r' {
			x.last.end++
		}
	}
	return 0, x.last.end
}

// shortLine is how long a line is, in bytes, that costs less to read again than an answer takes.
const shortLine = 256

// lineAllowed applies an allowlist to the line of a match. Answers are kept: the
// line can be the whole text, and many matches may stand on it.
func (x *lineIndex) lineAllowed(list *allowlist, start, end int) bool {
	from, to := x.line(start, end)
	if to-from <= shortLine {
		return x.allows(list, from, to)
	}
	key := lineVerdict{list, from, to}
	allowed, known := x.verdict[key]
	if !known {
		allowed = x.allows(list, from, to)
		if x.verdict == nil {
			x.verdict = map[lineVerdict]bool{}
		}
		x.verdict[key] = allowed
	}
	return allowed
}

// allows is list.matches for a part of the text.
func (x *lineIndex) allows(list *allowlist, from, to int) bool {
	if from > 0 || from == to || list.automaton == nil {
		return list.matches(x.text[from:to])
	}
	if x.begins == nil {
		x.begins = map[*allowlist]*beginnings{}
	}
	if x.begins[list] == nil {
		x.begins[list] = &beginnings{text: x.text, d: list.automaton()}
	}
	return x.begins[list].accept(to)
}
