package secrets

import "strings"

const (
	minNumbered = 3     // lines in a row numbered one by one, whose beginnings are taken for numbers
	linesBefore = 8     // a name of a secret, on which its value may stand
	linesBehind = 32    // the same, unless it is the head of a table, which may be longer
	maxHunk     = 16384 // bytes from a line of a diff back to the beginning of its hunk
)

// numbered reads the surroundings of names of secrets, of which spots tells the places,
// without the numbers that tools print before lines and without the marks of a diff: a name
// and a value on two lines are otherwise torn apart. It reports false if no such name stands
// on a line of that kind. Only surroundings are read since most that is numbered is code.
func numbered(text string, spots []spot) (view, bool) {
	var v view
	var out []byte
	read := 0 // up to where
	for _, s := range spots {
		if s.kind != cellSpot || s.start < read {
			continue
		}
		at := startOfLine(text, s.start)
		cut := cutOf(text, at)
		if cut == nil {
			read = nextLine(text, at)
			continue
		}
		from, lines := at, 1
		for ; lines <= linesBefore && from > 0; lines++ {
			before := startOfLine(text, from-1)
			if before < read || !follows(text, before, from, cut) {
				break
			}
			from = before
		}
		to := nextLine(text, at)
		separator := separatorOf(text[at:to])
		for n := 0; to < len(text) && follows(text, at, to, cut); n++ {
			end := nextLine(text, to)
			if n >= linesBehind && (separator == 0 || strings.IndexByte(text[to:end], separator) < 0) {
				break
			}
			at, to, lines = to, end, lines+1
		}
		if lines >= minNumbered {
			if from > read {
				out = append(out, '\n')
			}
			for line := from; line < to; line = nextLine(text, line) {
				begins := line + cut(text[line:])
				v.mark(len(out), begins)
				out = append(out, text[begins:nextLine(text, line)]...)
			}
		}
		read = to
	}
	v.text = string(out)
	return v, len(v.marks) > 0
}

// cutOf returns what tells how much stands before a line: of one that is numbered, or of a
// diff; nil if it is neither.
func cutOf(text string, at int) func(line string) int {
	if _, length := lineNumber(text[at:]); length > 0 {
		return func(line string) int {
			_, length := lineNumber(line)
			return length
		}
	}
	if diffMark(text[at:]) == 1 && strings.Contains(text[max(0, at-maxHunk):at], "@@ -") {
		return diffMark
	}
	return nil
}

// follows reports whether a line belongs behind another one.
func follows(text string, before, at int, cut func(line string) int) bool {
	a, length := lineNumber(text[before:])
	if length == 0 {
		return cut(text[before:]) > 0 && cut(text[at:]) > 0
	}
	b, length := lineNumber(text[at:])
	return length > 0 && b == a+1
}

// diffMark returns the length of what marks a line of a diff.
func diffMark(line string) int {
	if line != "" && strings.IndexByte("+- ", line[0]) >= 0 {
		return 1
	}
	return 0
}

// separatorOf returns what separates the cells of a line, if it may be a row of a table.
func separatorOf(line string) byte {
	for _, c := range []byte("|;,\t") {
		if strings.Count(line, string(c)) > 1 {
			return c
		}
	}
	return 0
}

// numberMarks are what stands between a line's number and the line.
var numberMarks = []string{"\t", "→", ": ", ":", " | ", "| ", "|", " │ ", "│ ", "│"}

// lineNumber returns the number that a line begins with, and the length of all that stands
// before the line itself, 0 if there is none.
func lineNumber(text string) (number, length int) {
	at := skip(text, 0, " ")
	if at < len(text) && text[at] == 'L' {
		at++
	}
	digits := at
	for at < len(text) && at-digits < 7 && text[at] >= '0' && text[at] <= '9' {
		number = number*10 + int(text[at]-'0')
		at++
	}
	if at == digits || at-digits > 6 {
		return 0, 0
	}
	for _, mark := range numberMarks {
		if strings.HasPrefix(text[at:], mark) {
			return number, at + len(mark)
		}
	}
	return 0, 0
}

func startOfLine(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// nextLine returns where the line behind the one begins that an offset is in.
func nextLine(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
