package secrets

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// minQuoted is how many bytes of a quoted string are worth a look.
const minQuoted = 12

// literals reads the strings that are quoted as JSON and Go do, to the letter and each on
// lines of its own. In a line that is not JSON only those with an escape are read.
func literals(text string) (view, bool) {
	if strings.IndexByte(text, '"') < 0 {
		return view{}, false
	}
	w := viewWriter{text: text}
	whole := isJSON(text)
	for at := 0; at < len(text); {
		quote := strings.IndexByte(text[at:], '"')
		if quote < 0 {
			break
		}
		at += strings.LastIndexByte(text[at:at+quote], '\n') + 1
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if all := whole || isJSON(text[at:end]); all || strings.IndexByte(text[at:end], '\\') >= 0 {
			w.literalsOf(at, end, all)
		}
		at = end + 1
	}
	w.from = len(text) // what stands between the strings is left out
	return w.view()
}

func isJSON(text string) bool { return looksJSON(text) && gjson.Valid(text) }

// literalsOf writes the strings in a line: those with a backslash, or all of several words.
func (w *viewWriter) literalsOf(at, end int, all bool) {
	for at < end {
		open := strings.IndexByte(w.text[at:end], '"')
		if open < 0 {
			return
		}
		open += at + 1
		length := quotation(w.text[open:end])
		at = open + length + 1
		inside := w.text[open : open+length]
		if length < minQuoted || strings.IndexByte(inside, '\\') < 0 && (!all || isWord(inside)) {
			continue
		}
		w.from = open
		w.mark(len(w.out), open, 0)
		for i := 0; i < length; {
			next := strings.IndexByte(inside[i:], '\\')
			if next < 0 {
				break
			}
			i += next
			if c, size := character(inside[i:]); size > 0 {
				w.replace(open+i, size, string(c))
				i += size
			} else {
				i++
			}
		}
		w.copy(open + length)
		w.mark(len(w.out), open+length-1, 1) // the end of its line stands for no more than the string
		w.out = append(w.out, '\n')
	}
}

// isWord reports whether a string is one word, a name or a path, at whose ends rules see the
// quotes as well as the ends of the text.
func isWord(s string) bool {
	for i := range len(s) {
		if !wordChar(s[i]) && s[i] != '-' && s[i] != '/' && (s[i] != '.' || i+1 == len(s)) {
			return false
		}
	}
	return true
}

// quotation returns the length of the quoted string that text, behind its quote, begins with:
// all of it if that does not end.
func quotation(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(text)
}

// character returns what an escape sequence at the beginning of a text stands for, and its
// length; 0 if it is none.
func character(text string) (c rune, length int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/', '\'':
		return rune(text[1]), 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		c, length = codePoint(text, 2, 4)
	case 'x':
		c, length = codePoint(text, 2, 2)
	}
	if c < 0 || !utf8.ValidRune(c) || length == 2 {
		return 0, 0
	}
	return c, length
}
