package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// A view is a text as another reading of it has it, and where in the text that is.
type view struct {
	text  string
	marks []mark
}

// mark says that from an offset of the view on, up to the next mark, the text goes on as
// it does from another offset.
type mark struct{ at, raw int }

// raw is the offset in the text of the character at an offset of the view.
func (v view) raw(at int) int {
	i, found := slices.BinarySearchFunc(v.marks, at, func(m mark, at int) int { return cmp.Compare(m.at, at) })
	if !found {
		i--
	}
	if i < 0 {
		return at
	}
	return v.marks[i].raw + at - v.marks[i].at
}

// rawEnd is the offset behind what ends at an offset of the view.
func (v view) rawEnd(at int) int {
	if at == 0 {
		return 0
	}
	return v.raw(at-1) + 1
}

// over is a view of what another view reads, as one of the text below both.
func (v view) over(below view) view {
	both := view{text: v.text}
	for i := -1; i < len(v.marks); i++ {
		m, end := mark{}, len(v.text)
		if i >= 0 {
			m = v.marks[i]
		}
		if i+1 < len(v.marks) {
			end = v.marks[i+1].at
		}
		both.mark(m.at, below.raw(m.raw))
		next, _ := slices.BinarySearchFunc(below.marks, m.raw+1, func(m mark, at int) int { return cmp.Compare(m.at, at) })
		for ; next < len(below.marks) && below.marks[next].at-m.raw < end-m.at; next++ {
			both.mark(m.at+below.marks[next].at-m.raw, below.marks[next].raw)
		}
	}
	return both
}

// beside is how many bytes before and behind a place where a view differs from its text are
// searched again, to the ends of their lines; the rest was searched as it stands in the text.
// What a rule finds is about a name and a value within a few lines, and what is longer, as
// keys and tables that are escaped, differs on each line.
const beside = 1024

// windows are the parts of a view that are searched.
func (v view) windows() []view {
	if len(v.text) <= 4*beside {
		return []view{v}
	}
	var windows []view
	from, to, first := 0, 0, 0 // of the window, and its first mark
	cut := func(last int) {
		if to > from {
			windows = append(windows, v.part(from, to, v.marks[first:last]))
		}
	}
	for n, m := range v.marks {
		if m.at+beside <= to {
			continue
		}
		if begin := m.at - beside; begin > to {
			if i := strings.LastIndexByte(v.text[to:begin], '\n'); i >= 0 {
				cut(n)
				from, first = to+i+1, n
			}
		}
		to = min(len(v.text), m.at+beside)
		if i := strings.IndexByte(v.text[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(v.text)
		}
	}
	cut(len(v.marks))
	return windows
}

// part is a part of a view with the marks in it.
func (v view) part(from, to int, marks []mark) view {
	p := view{text: v.text[from:to], marks: make([]mark, 0, len(marks)+1)}
	p.mark(0, v.raw(from))
	for _, m := range marks {
		if m.at < to {
			p.mark(m.at-from, m.raw)
		}
	}
	return p
}

// place gives a finding in the view the place that it has in the text.
func (v view) place(f finding, text string) finding {
	f.text = text
	if f.end-f.start >= 2 && quoteMark(v.text[f.start]) && v.text[f.start] == v.text[f.end-1] {
		f.start, f.end = f.start+1, f.end-1
	}
	f.matchStart, f.matchEnd = v.raw(f.matchStart), v.rawEnd(f.matchEnd)
	f.start, f.end = v.raw(f.start), v.rawEnd(f.end)
	f.end, f.matchEnd = max(f.start, f.end), max(f.matchStart, f.matchEnd)
	return f
}

// resolve reads text with escape sequences replaced by what they stand for, in whatever
// depth of nesting, and without those that colour a terminal: `\"` and `\\\"` become a
// quote. Transcripts hold much JSON inside of JSON, where a key and its value are
// otherwise torn apart. It reports false if there is no escape sequence.
func resolve(text string) (view, bool) {
	begins := `\`
	if strings.IndexByte(text, escapeChar) >= 0 {
		begins = `\` + string(escapeChar)
	}
	at := nextEscape(text, 0, begins)
	if at < 0 {
		return view{}, false
	}
	var v view
	out := make([]byte, 0, len(text))
	from := 0 // what is copied up to
	for at >= 0 {
		last := at
		for last < len(text) && text[last] == '\\' {
			last++
		}
		// The run ends before the escaped character.
		switch c, end := unescape(text, last); c {
		case 0:
		case escapeChar:
			if length := sequence(text[end+1:]); length > 0 {
				out = append(out, text[from:at]...)
				from = end + 1 + length
				v.mark(len(out), from)
				last = from
			}
		default:
			out = append(out, text[from:at]...)
			v.mark(len(out), end)
			out = append(out, c)
			from = end + 1
			last = from
		}
		at = nextEscape(text, max(last, at+1), begins)
	}
	v.text = string(append(out, text[from:]...))
	return v, len(v.marks) > 0
}

// mark notes where an offset of the view is in the text.
func (v *view) mark(at, raw int) {
	if n := len(v.marks); n > 0 && v.marks[n-1].at == at {
		v.marks[n-1].raw = raw
		return
	}
	v.marks = append(v.marks, mark{at, raw})
}

// nextEscape returns the next escape character itself, or the next backslash before an
// escaped character or another backslash. What it looks for first is in begins.
func nextEscape(text string, from int, begins string) int {
	for from < len(text) {
		i := strings.IndexAny(text[from:], begins)
		if i < 0 || from+i+1 >= len(text) {
			return -1
		}
		from += i
		c := text[from+1]
		if text[from] == escapeChar || c == '\\' || c == 'u' || c == 'x' || c == '0' || c == 'e' || escaped(c) != 0 {
			return from
		}
		from++
	}
	return -1
}

// escapeChar begins what terminals obey.
const escapeChar = '\x1b'

// unescape returns what the characters from an offset on, behind a backslash, stand for,
// and the offset of the last of them; 0 if that is nothing that matters here.
func unescape(text string, at int) (c byte, last int) {
	if at >= len(text) {
		return 0, at
	}
	switch text[at] {
	case escapeChar, 'e':
		return escapeChar, at
	case 'u':
		return codePoint(text[at+1:], 4), at + 4
	case 'x':
		return codePoint(text[at+1:], 2), at + 2
	case '0':
		if strings.HasPrefix(text[at:], "033") {
			return escapeChar, at + 2
		}
	}
	return escaped(text[at]), at
}

// sequence returns the length of the terminal's sequence that text, behind the escape
// character, begins with.
func sequence(text string) int {
	if !strings.HasPrefix(text, "[") {
		return 0
	}
	at := 1
	for at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at] == ';') {
		at++
	}
	if at < len(text) && (text[at] == 'm' || text[at] == 'K') {
		return at + 1
	}
	return 0
}

// escaped returns what a character after a backslash stands for; 0 if the pair is
// no escape sequence that separates words or stands in a name or an address.
func escaped(c byte) byte {
	switch c {
	case 'n', 'r':
		return '\n'
	case 't':
		return '\t'
	case '"', '\'', '/', ':', '=', '_', '|':
		return c
	}
	return 0
}

// codePoint returns the character of so many hexadecimal digits if it is in ASCII and
// printable, or the escape character, else 0.
func codePoint(digits string, count int) byte {
	if len(digits) < count {
		return 0
	}
	n := 0
	for i := range count {
		at := strings.IndexByte("0123456789abcdef", lowerASCII(digits[i]))
		if at < 0 {
			return 0
		}
		n = n<<4 | at
	}
	if (n < ' ' || n > '~') && n != escapeChar {
		return 0
	}
	return byte(n)
}
