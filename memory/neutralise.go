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

// A cell is one character of a text as a reader would take it, with the bytes that
// it is written by.
type cell struct {
	r          byte // folded to lower-case ASCII; 0 for what has no such form
	start, end int
}

// tags finds, in a folded text, memoir's own frame in a tag, the same name in prose, and the
// beginning of any other tag with its name or the mark of a chat template. Up to eight
// characters may stand in the place of the name's hyphen: in a tag all but letters, digits and
// brackets, in prose a hyphen or underscore among spaces.
var tags = lazyregexp.New(`(<[<\\/ ]*memoir(?:[^a-z0-9<>]{0,8})context)` +
	`|(memoir(?: {0,7}[-_][-_ ]{0,7})?context)` +
	`|(<[<\\/ ]*)(\||[a-z_-]*)`)

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
	letters := make([]byte, len(cells))
	for i, c := range cells {
		letters[i] = c.r
	}
	folded := string(letters)
	var b strings.Builder
	done := 0 // bytes of text written or replaced
	for at := 0; at < len(folded); {
		m := tags.FindStringSubmatchIndex(folded[at:])
		if m == nil {
			break
		}
		from, to, with := at+m[0], at+m[1], "memoir context"
		switch {
		case m[2] >= 0:
			with = "[memoir context"
			at = to
		case m[4] >= 0:
			at = to
		default:
			tag := folded[at+m[6] : at+m[7]]
			name := folded[at+m[8] : at+m[9]]
			at += m[7] // the name may hold the frame's
			if name != "|" && !prompts.Steers(name) {
				continue
			}
			to, with = from+strings.LastIndexByte(tag, '<')+1, "‹"
		}
		b.WriteString(text[done:cells[from].start])
		b.WriteString(with)
		done = cells[to-1].end
	}
	return b.String() + text[done:]
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
