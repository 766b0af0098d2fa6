package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A verbatim is a part of a statement that must be copied from the session: what
// stands in a code span or in quotation marks, and flags, paths and addresses
// outside of them.
type verbatim struct {
	text   string
	quoted bool // somebody's words rather than code
}

// closers are the ends of quotations by their beginnings.
var closers = map[rune]string{'“': "”", '„': "“”", '«': "»", '「': "」", '『': "』", '"': `"`}

// literals finds the literals of a line of Markdown.
func verbatims(line string) []verbatim {
	var out []verbatim
	var prose strings.Builder
	last := ' '
	for i := 0; i < len(line); {
		if line[i] == '`' {
			marks := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			if end := strings.Index(line[i+marks:], line[i:i+marks]); end >= 0 {
				out = append(out, verbatim{text: strings.TrimSpace(line[i+marks : i+marks+end])})
				prose.WriteByte(' ')
				i += 2*marks + end
				last = '`'
				continue
			}
			i += marks
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if ends, ok := closers[r]; ok && (r != '"' || !unicode.IsLetter(last) && !unicode.IsDigit(last)) {
			rest := line[i+size:]
			if end := strings.IndexAny(rest, ends); end >= 0 {
				_, width := utf8.DecodeRuneInString(rest[end:])
				out = append(out, verbatim{strings.Trim(rest[:end], " .,;:!?"), true})
				prose.WriteByte(' ')
				i += size + end + width
				last = r
				continue
			}
		}
		prose.WriteString(line[i : i+size])
		last = r
		i += size
	}
	for word := range strings.FieldsSeq(prose.String()) {
		if word = strings.Trim(word, "()[]{}<>*_.,;:!?'‘’"); bareLiteral(word) {
			out = append(out, verbatim{text: word})
		}
	}
	return out
}

var (
	bareFlag = newPattern(`^--[A-Za-z][\w-]*(=.*)?$`)
	barePath = newPattern(`^(~|\.{1,2})?(/[\w.@+-]+){2,}/?$|^[\w.@+-]+(/[\w.@+-]+)*/[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,4}(:\d+)?$|^https?://.`)
)

// bareLiteral reports whether a word of prose is a flag, a path or an address.
func bareLiteral(word string) bool {
	switch {
	case strings.HasPrefix(word, "--"):
		return bareFlag.MatchString(word)
	case strings.Contains(word, "/"):
		return barePath.MatchString(word)
	}
	return false
}
