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

// place gives a finding in the view the place that it has in the text.
func (v view) place(f finding, text string) finding {
	f.text = text
	f.matchStart, f.matchEnd = v.raw(f.matchStart), v.rawEnd(f.matchEnd)
	f.start, f.end = v.raw(f.start), v.rawEnd(f.end)
	f.end, f.matchEnd = max(f.start, f.end), max(f.matchStart, f.matchEnd)
	return f
}

// resolve reads text with JSON's escape sequences replaced by what they stand for, in
// whatever depth of nesting: `\"` and `\\\"` become a quote. Transcripts hold much JSON
// inside of JSON, where a key and its value are otherwise torn apart. It reports false if
// there is no escape sequence.
func resolve(text string) (view, bool) {
	at := nextEscape(text, 0)
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
		c, end := byte(0), last
		if last < len(text) {
			if c = escaped(text[last]); c == 0 && text[last] == 'u' && last+5 <= len(text) {
				if c = codePoint(text[last+1 : last+5]); c != 0 {
					end = last + 4
				}
			}
		}
		if c != 0 {
			out = append(out, text[from:at]...)
			v.marks = append(v.marks, mark{len(out), end})
			out = append(out, c)
			from = end + 1
			last = from
		}
		at = nextEscape(text, last)
	}
	v.text = string(append(out, text[from:]...))
	return v, len(v.marks) > 0
}

// nextEscape returns the next backslash before an escaped character or another
// backslash.
func nextEscape(text string, from int) int {
	for from < len(text) {
		i := strings.IndexByte(text[from:], '\\')
		if i < 0 || from+i+1 >= len(text) {
			return -1
		}
		from += i
		if c := text[from+1]; c == '\\' || c == 'u' || escaped(c) != 0 {
			return from
		}
		from++
	}
	return -1
}

// escaped returns what a character after a backslash stands for; 0 if the pair is
// no escape sequence that separates words.
func escaped(c byte) byte {
	switch c {
	case 'n', 'r':
		return '\n'
	case 't':
		return '\t'
	case '"', '\'':
		return c
	}
	return 0
}

// codePoint returns the ASCII character of four hexadecimal digits, else 0.
func codePoint(digits string) byte {
	n := 0
	for i := range len(digits) {
		at := strings.IndexByte("0123456789abcdef", lowerASCII(digits[i]))
		if at < 0 {
			return 0
		}
		n = n<<4 | at
	}
	if n < ' ' || n > '~' {
		return 0
	}
	return byte(n)
}
