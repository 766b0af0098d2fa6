package extract

import (
	"strings"
	"unicode"
)

// A verbatim is a part of a statement that must be copied from the session: what
// stands in a code span or in quotation marks, and flags, paths and addresses
// outside of them.
type verbatim struct {
	text   string
	quoted bool // somebody's words rather than code
}

var (
	spans = newPattern("``+[^`]+``+|`[^`]*`|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|" + `\B"[^"]*"`)
	bare  = newPattern(`^--[A-Za-z][\w-]*(=.*)?$|^https?://.|^(~|\.{1,2})?(/[\w.@+-]+){2,}/?$` +
		`|^[\w.@+-]+(/[\w.@+-]+)*/[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,4}(:\d+)?$`)
)

// verbatims finds the verbatim parts of a line of Markdown.
func verbatims(line string) []verbatim {
	var out []verbatim
	prose := spans.ReplaceAllStringFunc(line, func(span string) string {
		if span[0] == '`' {
			out = append(out, verbatim{text: strings.Trim(span, "` ")})
		} else {
			out = append(out, verbatim{strings.Trim(span, "“”„«»「」『』\" .,;:!?"), true})
		}
		return " "
	})
	for word := range strings.FieldsSeq(prose) {
		if word = strings.Trim(word, "()[]{}<>*_.,;:!?'‘’"); bare.MatchString(word) {
			out = append(out, verbatim{text: word})
		}
	}
	return out
}

// lineMarks begin the lines of a list, a quotation or a patch, which one that quotes it leaves out.
var lineMarks = newPattern(`(?m)^[ \t]*(?:(?:[-*+•>]|\d{1,3}[.)])[ \t]+)+`)

// flat is loose of a text as it stands, with the escapes of JSON undone, and without marks of lines.
func flat(text string) string {
	out := loose(text) + "\x00" // which no part holds
	if strings.Contains(text, `\`) {
		text = unescape.Replace(text)
		out += loose(text) + "\x00"
	}
	if lineMarks.MatchString(text) {
		out += loose(lineMarks.ReplaceAllString(text, "")) + "\x00"
	}
	return out
}

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\\`, `\`, `\/`, `/`, `\u003c`, "<",
	`\u003e`, ">", `\u0026`, "&")

// loose drops the space of a text with Markdown's marks and the case of its letters, and
// levels what typographers write in another way, and those who make text safe to show.
func loose(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r), r == '`', r == '*':
			return -1
		case r == '“', r == '”', r == '„', r == '«', r == '»':
			return '"'
		case r == '‘', r == '’':
			return '\''
		case r == '–', r == '—', r == '‑', r == '−':
			return '-'
		case r == '‹':
			return '<'
		case r == '›':
			return '>'
		}
		return unicode.ToLower(r)
	}, text)
	return strings.ReplaceAll(text, "&lt;", "<")
}

// spaced writes the words of a text in lower case with one space before and behind each;
// of scripts without spaces each character is a word.
func spaced(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	gap := true
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
			alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
			if alone && !gap {
				b.WriteByte(' ')
			}
			b.WriteRune(unicode.ToLower(r))
			if gap = alone; alone {
				b.WriteByte(' ')
			}
		case r == '\'' || r == '’': // don't is one word
		case !gap:
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}
