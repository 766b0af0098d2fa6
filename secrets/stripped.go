package secrets

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// stripped is a text without what encoders, shells and terminals put between the
// characters of a value: quotes, backslashes, and ends of lines with the margins beside
// them. Escapes, of URLs and of HTML too, stand as what they mean. A value that is known
// is looked for in it, stripped as well: however it was escaped or broken, and however
// often, it is the same there.
type stripped struct {
	text     string
	segments []piece
}

// piece says that from an offset of the stripped text on it goes on as the text does from
// another offset, or, where width is not 0, that one character is written with so many
// bytes there.
type piece struct{ at, raw, width int }

// margin is what may stand before a line's text: indentation, the bar of a quotation or of a box.
const margin = " \t>|│"

// joint tells which bytes do not always stand for themselves in a text.
var joint = func() (set [256]bool) {
	for _, c := range []byte("\\%&'\"`\r\n") {
		set[c] = true
	}
	return set
}()

// strip reads a text that way. It reports false if nothing in it is to be stripped.
func strip(text string) (stripped, bool) {
	at := nextJoint(text, 0)
	if at == len(text) {
		return stripped{text: text}, false
	}
	s := stripper{text: text, out: make([]byte, 0, len(text))}
	s.copy(0, at)
	for at < len(text) {
		at = s.step(at)
		next := nextJoint(text, at)
		s.copy(at, next)
		at = next
	}
	return stripped{string(s.out), s.segments}, true
}

func nextJoint(text string, at int) int {
	for at < len(text) && !joint[text[at]] {
		at++
	}
	return at
}

// piece returns what an offset of the stripped text is in.
func (s stripped) piece(at int) piece {
	i, found := slices.BinarySearchFunc(s.segments, at, func(p piece, at int) int { return cmp.Compare(p.at, at) })
	if !found {
		i--
	}
	return s.segments[i]
}

// span returns the extent in the text of a part of the stripped text. It has the quotes
// around it if they are not of one kind: the parts of a word had some of their own.
func (s stripped) span(text string, from, to int) (start, end int) {
	first, last := s.piece(from), s.piece(to-1)
	start, end = first.raw, last.raw+last.width
	if first.width == 0 {
		start += from - first.at
	}
	if last.width == 0 {
		end = last.raw + to - last.at
	}
	if start > 0 && end < len(text) && text[start-1] != text[end] && quoteMark(text[start-1]) && quoteMark(text[end]) &&
		strings.IndexByte(text[start:end], text[start-1]) >= 0 {
		start, end = start-1, end+1
	}
	return start, end
}

func quoteMark(c byte) bool { return c == '\'' || c == '"' || c == '`' }

// stripper writes a stripped text.
type stripper struct {
	text     string
	out      []byte
	segments []piece
	margin   bool // of a line that begins is being read
}

// copy takes over a part of the text as it is.
func (s *stripper) copy(from, to int) {
	if s.margin {
		from = to - len(strings.TrimLeft(s.text[from:to], margin))
	}
	if from < to {
		s.margin = false
		s.segments = append(s.segments, piece{len(s.out), from, 0})
		s.out = append(s.out, s.text[from:to]...)
	}
}

// step reads what begins at an offset and returns where it ends.
func (s *stripper) step(at int) int {
	text := s.text
	switch text[at] {
	case '\\':
		return s.escape(at)
	case '%':
		digits := at + 1
		for strings.HasPrefix(text[digits:], "25") && hexPair(text, digits+2) >= 0 { // an escaped percent sign
			digits += 2
		}
		if c := hexPair(text, digits); c >= 0 {
			return s.stands(string([]byte{byte(c)}), at, digits+2)
		}
	case '&':
		name := at + 1
		for strings.HasPrefix(text[name:], "amp;") {
			name += len("amp;")
		}
		if length := strings.IndexByte(text[name:min(len(text), name+8)], ';'); length > 0 {
			if c := reference(text[name : name+length]); c != 0 {
				return s.stands(string(c), at, name+length+1)
			}
		}
		if name > at+1 {
			return s.stands("&", at, name)
		}
	case '\r', '\n':
		return s.broken(at + 1)
	default: // a quote
		return at + 1
	}
	s.copy(at, at+1)
	return at + 1
}

// escape reads what follows backslashes, whose number tells only how often something was
// escaped.
func (s *stripper) escape(at int) int {
	text, last := s.text, at
	for last < len(text) && text[last] == '\\' {
		last++
	}
	if last == len(text) {
		return last
	}
	switch c := text[last]; c {
	case 'n', 'r':
		return s.broken(last + 1)
	case 'u':
		if high, low := hexPair(text, last+1), hexPair(text, last+3); high >= 0 && low >= 0 {
			return s.stands(string(rune(high<<8|low)), at, last+5)
		}
	case 'x':
		if c := hexPair(text, last+1); c >= 0 {
			return s.stands(string([]byte{byte(c)}), at, last+3)
		}
	case '0', '1':
		if last+3 <= len(text) && octal(text[last+1]) && octal(text[last+2]) {
			return s.stands(string([]byte{(c-'0')<<6 | (text[last+1]-'0')<<3 | (text[last+2] - '0')}), at, last+3)
		}
	}
	if c := text[last]; quoteMark(c) || c == '\n' || c == '\r' {
		return last
	}
	return s.stands(text[last:last+1], at, last+1)
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// stands writes a character that a part of the text stands for.
func (s *stripper) stands(c string, from, to int) int {
	switch c {
	case "\n", "\r":
		return s.broken(to)
	case "\\", "'", `"`, "`":
		return to
	case " ", "\t", ">", "|":
		if s.margin {
			return to
		}
	}
	s.margin = false
	s.segments = append(s.segments, piece{len(s.out), from, to - from})
	s.out = append(s.out, c...)
	return to
}

// broken joins two lines: it takes back the margin of the one that ended, and that of the
// next is left out.
func (s *stripper) broken(at int) int {
	s.out = bytes.TrimRight(s.out, " \t|│")
	for n := len(s.segments); n > 0 && s.segments[n-1].at >= len(s.out); n-- {
		s.segments = s.segments[:n-1]
	}
	s.margin = true
	return at
}

// hexPair returns the byte that two hexadecimal digits at an offset tell, -1 if there are none.
func hexPair(text string, at int) int {
	if at+2 > len(text) {
		return -1
	}
	n := 0
	for i := range 2 {
		digit := strings.IndexByte("0123456789abcdef", lowerASCII(text[at+i]))
		if digit < 0 {
			return -1
		}
		n = n<<4 | digit
	}
	return n
}

// reference returns the character that HTML has a name or number for, 0 if it is none in ASCII.
func reference(name string) rune {
	if c := references[strings.ToLower(name)]; c != 0 {
		return rune(c)
	}
	number, isNumber := strings.CutPrefix(name, "#")
	if !isNumber {
		return 0
	}
	base := 10
	if number != "" && lowerASCII(number[0]) == 'x' {
		number, base = number[1:], 16
	}
	n := 0
	for i := range len(number) {
		digit := strings.IndexByte("0123456789abcdef", lowerASCII(number[i]))
		if digit < 0 || digit >= base {
			return 0
		}
		n = n*base + digit
	}
	if number == "" || n >= utf8.RuneSelf {
		return 0
	}
	return rune(n)
}
