package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
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
		case r == '\n', r == '\t', !Hidden(r):
			b.WriteRune(r) // a broken byte becomes U+FFFD
		}
	}
	return memoir.WithoutFloods(b.String())
}

// Hidden reports whether a character shows nothing: controls, format characters
// (zero-width, bidirectional, tags), variation selectors, fillers.
func Hidden(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' || r == 0x7f
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // format characters by category, but visible
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r == '\u2800' || 0xE0000 <= r && r <= 0xE0FFF
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
