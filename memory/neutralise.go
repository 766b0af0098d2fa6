package memory

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/prompts"
)

// Neutralise makes a text safe to put between other texts, in a prompt or on a
// terminal: what would steer a terminal, hide or reorder characters is removed,
// and tags that would close or imitate a frame are spelled so that they no longer
// are tags (see defuse). Line breaks, tabs and visible text stay. Neutralising
// twice changes nothing more.
func Neutralise(text string) string { return defuse(visible(text)) }

// visible removes control characters with the sequences they introduce,
// characters that show nothing, and floods of marks on one.
func visible(text string) string {
	clean := true
	for i := 0; i < len(text) && clean; i++ {
		c := text[i]
		clean = c >= ' ' && c < 0x7f || c == '\n' || c == '\t'
	}
	if clean {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		if n := controlSequence(text[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '\r':
			if !strings.HasPrefix(text[i:], "\n") {
				b.WriteByte('\n') // a bare one would overwrite its line on a terminal
			}
		case r == '\u2028', r == '\u2029', r == '\u0085', r == '\v', r == '\f':
			b.WriteByte('\n')
		case r == '\n', r == '\t', !memoir.Hidden(r):
			b.WriteRune(r) // a broken byte becomes U+FFFD
		}
	}
	return memoir.WithoutFloods(b.String())
}

// controlSequence measures the terminal sequence that a text begins with, 0 if it
// begins with none: ESC and what belongs to it, or its one-character forms.
func controlSequence(text string) int {
	esc := 0
	switch {
	case text[0] == 0x1b:
		if len(text) == 1 {
			return 1
		}
		esc = 1
	case strings.HasPrefix(text, "\u009b"):
		return 2 + csi(text[2:])
	case strings.HasPrefix(text, "\u009d"), strings.HasPrefix(text, "\u0090"),
		strings.HasPrefix(text, "\u009e"), strings.HasPrefix(text, "\u009f"), strings.HasPrefix(text, "\u0098"):
		return 2 + controlString(text[2:])
	default:
		return 0
	}
	switch c := text[esc]; {
	case c == '[':
		return 2 + csi(text[2:])
	case c == ']', c == 'P', c == 'X', c == '^', c == '_':
		return 2 + controlString(text[2:])
	case c >= ' ' && c <= '/': // a designation: intermediates, then one character
		i := 1
		for i < len(text) && text[i] >= ' ' && text[i] <= '/' {
			i++
		}
		if i < len(text) && text[i] > '/' && text[i] < 0x7f {
			i++
		}
		return i
	case c >= '0' && c < 0x7f:
		return 2
	}
	return 1
}

// csi measures the rest of a control sequence: parameters, intermediates, final.
func csi(text string) int {
	i := 0
	for i < len(text) && text[i] >= ' ' && text[i] <= '?' {
		i++
	}
	if i < len(text) && text[i] >= '@' && text[i] <= '~' {
		return i + 1
	}
	return 0 // no sequence: what follows is text
}

// controlString measures the rest of a string for the terminal (a title, a link)
// with its end, which must be on the same line: what has no end is text.
func controlString(text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			return 0
		case text[i] == '\a':
			return i + 1
		case strings.HasPrefix(text[i:], "\x1b\\"), strings.HasPrefix(text[i:], "\u009c"):
			return i + 2
		}
	}
	return 0
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
// spelled: in any case, with spaces, as HTML, JSON, URL or backslash escapes, in
// full-width or look-alike letters.
//
//	</memoir-context>   becomes  [memoir context>
//	memoir-context      becomes  memoir context
//	<system-reminder>   becomes  ‹system-reminder>
//	<|im_start|>        becomes  ‹|im_start|>
func defuse(text string) string {
	cells := unescape(unescape(foldText(text)))
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

// unescape joins the characters of an escape into the one that it stands for, and
// passes over one that shows nothing.
func unescape(cells []cell) []cell {
	out := cells[:0]
	for i := 0; i < len(cells); {
		if r, n := escape(cells[i:]); n > 0 {
			if r < 0x80 || !memoir.Hidden(r) {
				out = append(out, cell{fold(r), cells[i].start, cells[i+n-1].end})
			}
			i += n
			continue
		}
		out = append(out, cells[i])
		i++
	}
	return out
}

// escape reads one escaped character: &lt; &#60; &#x3c; \u003c \x3c \/ %3c. n is
// how many cells it takes, 0 if there is none.
func escape(cells []cell) (r rune, n int) {
	if c := cells[0].r; c != '&' && c != '\\' && c != '%' {
		return 0, 0
	}
	const longest = 12
	head := make([]byte, 0, longest)
	for _, c := range cells[:min(len(cells), longest)] {
		head = append(head, c.r)
	}
	s := string(head)
	number := func(prefix string, digits, base int) (rune, int) {
		rest := s[len(prefix):]
		if len(rest) < digits {
			return 0, 0
		}
		v, err := strconv.ParseUint(rest[:digits], base, 32)
		if err != nil {
			return 0, 0
		}
		return rune(v), len(prefix) + digits
	}
	switch {
	case s[0] == '&':
		body, _, ok := strings.Cut(s[1:], ";")
		if !ok {
			return 0, 0
		}
		if named, ok := entities[body]; ok {
			return named, len(body) + 2
		}
		digits, base := strings.TrimPrefix(body, "#"), 10
		if digits == body {
			return 0, 0
		}
		if hex, ok := strings.CutPrefix(digits, "x"); ok {
			digits, base = hex, 16
		}
		if v, err := strconv.ParseUint(digits, base, 32); err == nil {
			return rune(v), len(body) + 2
		}
	case strings.HasPrefix(s, `\u`):
		return number(`\u`, 4, 16)
	case strings.HasPrefix(s, `\x`):
		return number(`\x`, 2, 16)
	case s[0] == '%':
		return number("%", 2, 16)
	}
	return 0, 0
}

var entities = map[string]rune{
	"lt": '<', "gt": '>', "amp": '&', "sol": '/', "hyphen": '-', "dash": '-', "lowbar": '_', "nbsp": ' ',
	"vert": '|', "verbar": '|', "bsol": '\\', "shy": '-',
}
