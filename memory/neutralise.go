package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// Neutralise makes a text safe to put between other texts, in a prompt or on a
// terminal: what would steer a terminal, hide or reorder characters is removed,
// and tags that would close or imitate a frame are spelled so that they no longer
// are tags (see defuse). Line breaks, tabs and visible text stay. Neutralising
// twice changes nothing more.
func Neutralise(text string) string { return defuse(visible(text)) }

// sequences are what steers a terminal: control sequences, strings such as titles and links
// with their end on the same line, and the short forms.
var sequences = lazyregexp.New(`(?:\x1b\[|\x{9b})[ -?]*[@-~]` +
	`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\n]*?(?:\x07|\x1b\\|\x{9c})` +
	`|\x1b[ -/]+[0-~]?|\x1b[0-~]`)

// lineEnds writes each end of a line as one form. A bare carriage return would overwrite its line
// on a terminal.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n",
	"\v", "\n", "\f", "\n")

// visible removes control characters with the sequences they introduce,
// characters that show nothing, and floods of marks on one.
func visible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f) }) {
		return text
	}
	text = lineEnds.Replace(sequences.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), ""))
	return memoir.WithoutFloods(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && memoir.Hidden(r) {
			return -1
		}
		return r
	}, text))
}

// frameName is the tag that memoir's own frame has when memory is put into a
// session; readers of transcripts know injected text by it.
const frameName = "memoir-context"

// cell is one character of a text as a reader would take it, with the bytes that
// it is written by.
type cell struct {
	r          byte // folded to lower-case ASCII; 0 for what has no such form
	start, end int
}

// defuse rewrites tags that would close or imitate a frame, however they are
// spelled: in any case, with spaces, in full-width or look-alike letters. An escaped tag is
// none, but the name goes from it, too.
//
//	</memoir-context>   becomes  [memoir context>
//	memoir-context      becomes  memoir context
//	<system-reminder>   becomes  ‹system-reminder>
//	<|im_start|>        becomes  ‹|im_start|>
func defuse(text string) string {
	cells := foldText(text)
	folded := make([]byte, len(cells))
	for i, c := range cells {
		folded[i] = c.r
	}
	var b strings.Builder
	done := 0 // bytes of text written or replaced
	replace := func(from, to int, with string) {
		if start := cells[from].start; start >= done {
			b.WriteString(text[done:start])
			b.WriteString(with)
			done = cells[to-1].end
		}
	}
	for i := 0; i < len(folded); {
		if folded[i] != '<' && folded[i] != frameName[0] {
			i++
			continue
		}
		bracket, name := openTag(folded, i)
		if end := ownName(folded, name, name > i); end > 0 {
			with := "memoir context"
			if name > i {
				with = "[" + with
			}
			replace(i, end, with)
			i = end
			continue
		}
		if bracket > i && steers(folded[name:]) {
			replace(i, bracket, "‹")
		}
		i = max(name, i+1) // a later bracket of the same run leads to no other name
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// openTag reads '<' (also several), then spaces and slashes. It returns where the
// brackets and where the whole ends; both are i if no bracket stands there.
func openTag(folded []byte, i int) (bracket, name int) {
	if folded[i] != '<' {
		return i, i
	}
	bracket = i
	for name = i; name < len(folded); name++ {
		switch folded[name] {
		case '<':
			bracket = name + 1
		case '/', '\\', ' ':
		default:
			return bracket, name
		}
	}
	return bracket, name
}

// ownName reads frameName with up to eight characters, or nothing, in place of its
// hyphen. In a tag these may be anything that is no letter or digit; in prose only
// hyphens, underscores and spaces count, and spaces alone are no name. end is 0 if
// no name stands there.
func ownName(folded []byte, i int, tag bool) (end int) {
	first, second, _ := strings.Cut(frameName, "-")
	if !hasPrefix(folded[i:], first) {
		return 0
	}
	const widest = 8
	from := i + len(first)
	for to := from; to < len(folded) && to <= from+widest; to++ {
		if hasPrefix(folded[to:], second) {
			if !tag && to > from && strings.Trim(string(folded[from:to]), " ") == "" {
				return 0
			}
			return to + len(second)
		}
		switch c := folded[to]; {
		case c == '-', c == '_', c == ' ':
		case !tag, c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '<', c == '>':
			return 0
		}
	}
	return 0
}

// steers reports whether what follows a '<' is a tag that agents steer by, or one
// of a chat template's marks (<|…).
func steers(folded []byte) bool {
	if len(folded) > 0 && folded[0] == '|' {
		return true
	}
	end := 0
	for end < len(folded) && (folded[end] == '-' || folded[end] == '_' || folded[end] >= 'a' && folded[end] <= 'z') {
		end++
	}
	return prompts.Steers(string(folded[:end]))
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

func foldText(text string) []cell {
	cells := make([]cell, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r < utf8.RuneSelf || !unicode.Is(unicode.Mn, r) { // a mark is of the letter before it
			cells = append(cells, cell{fold(r), i, i + size})
		}
		i += size
	}
	return cells
}

// fold maps a character to the ASCII one that a reader would take it for.
func fold(r rune) byte {
	switch {
	case r >= 'A' && r <= 'Z':
		return byte(r) + 'a' - 'A'
	case r == '\n', r == '\t', r == '\u00a0', r == '\u3000', r >= '\u2000' && r <= '\u200a':
		return ' '
	case r < 0x80:
		return byte(r)
	case r >= '\u2010' && r <= '\u2015', r == '\u2212', r == '\ufe63', r == '\u00ad':
		return '-'
	case r == '\u2044', r == '\u2215':
		return '/'
	}
	if r = prompts.Plain(r); r < 0x80 {
		return fold(r)
	}
	return 0
}
