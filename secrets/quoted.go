package secrets

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// minQuoted is how many bytes of a quoted string are worth a look.
const minQuoted = 12

// findQuoted returns the findings in strings that are quoted as JSON and Go do, each read
// as what it stands for, to the letter. Other readings are of the text as a whole: they take
// only what separates words for an escape, and a backslash of the string's own, as JSON in
// JSON has, for one of the quotation. Nor do rules that look at whole lines know where a
// string begins and ends. What is not JSON is read so where a string has a backslash.
func (set *ruleSet) findQuoted(text string, depth int) []finding {
	if strings.IndexByte(text, '"') < 0 {
		return nil
	}
	var found []finding
	whole := isJSON(text)
	for at := 0; ; {
		quote := strings.IndexByte(text[at:], '"')
		if quote < 0 {
			return found
		}
		at += strings.LastIndexByte(text[at:at+quote], '\n') + 1
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if all := whole || isJSON(text[at:end]); all || strings.IndexByte(text[at:end], '\\') >= 0 {
			found = append(found, set.findStrings(text, at, end, all, depth)...)
		}
		if at = end + 1; at > len(text) {
			return found
		}
	}
}

func isJSON(text string) bool { return looksJSON(text) && gjson.Valid(text) }

// findStrings returns the findings in the quoted strings of a line: in those that have a
// backslash, or in all of several words.
func (set *ruleSet) findStrings(text string, at, end int, all bool, depth int) (found []finding) {
	for at < end {
		open := strings.IndexByte(text[at:end], '"')
		if open < 0 {
			break
		}
		open += at + 1
		length := quotation(text[open:end])
		at = open + length + 1
		inside := text[open : open+length]
		if length < minQuoted {
			continue
		}
		v := view{text: inside, marks: []mark{{0, open}}}
		var seen []finding
		if strings.IndexByte(inside, '\\') >= 0 {
			v = unquote(inside, open)
			seen = set.searchDeep(v.text, depth)
		} else if all && !isWord(inside) {
			seen, _ = set.findAll(inside) // the other readings of the text have it as it is
		}
		tails := tails{text: v.text}
		for _, f := range seen {
			from, to := tails.span(f)
			if from >= to || set.isMarker(v.text, from, to) {
				continue
			}
			if f.hidden == "" {
				f.hidden = v.text[from:to]
			}
			start, stop := v.raw(from), v.raw(to)
			found = append(found, finding{
				rule: f.rule, text: text, hidden: f.hidden,
				matchStart: start, matchEnd: stop, start: start, end: stop,
			})
		}
	}
	return found
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

// unquote reads the inside of a quoted string, which stands at an offset of a text. What is
// no escape sequence of JSON or Go stands for itself.
func unquote(inside string, at int) view {
	var v view
	out := make([]byte, 0, len(inside))
	v.mark(0, at)
	from := 0
	for i := 0; i < len(inside); {
		if inside[i] != '\\' {
			i++
			continue
		}
		c, length := character(inside[i:])
		if length == 0 {
			i++
			continue
		}
		out = append(out, inside[from:i]...)
		v.mark(len(out), at+i)
		out = utf8.AppendRune(out, c)
		i += length
		from = i
		v.mark(len(out), at+i)
	}
	v.text = string(append(out, inside[from:]...))
	return v
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
		return digits(text[2:], 4)
	case 'x':
		return digits(text[2:], 2)
	}
	return 0, 0
}

// digits returns the character whose number is written in so many hexadecimal digits, and
// the length of its escape sequence.
func digits(text string, count int) (c rune, length int) {
	if len(text) < count {
		return 0, 0
	}
	for i := range count {
		at := strings.IndexByte("0123456789abcdef", lowerASCII(text[i]))
		if at < 0 {
			return 0, 0
		}
		c = c<<4 | rune(at)
	}
	return c, count + 2
}
