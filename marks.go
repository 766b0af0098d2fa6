package memoir

import (
	"strings"
	"unicode"
)

// MaxMarks bounds the combining marks of a character in displayed and published text: scripts
// need no more. Further marks would cover the lines above and below.
const MaxMarks = 5

// WithoutFloods removes the combining marks of a text that exceed MaxMarks on one character.
func WithoutFloods(text string) string {
	marks := 0
	flood := false
	for _, r := range text {
		if marks = marksTo(r, marks); marks > MaxMarks {
			flood = true
			break
		}
	}
	if !flood {
		return text
	}
	marks = 0
	return strings.Map(func(r rune) rune {
		if marks = marksTo(r, marks); marks > MaxMarks {
			return -1
		}
		return r
	}, text)
}

// marksTo counts the marks on a character up to r, of which marks came before.
func marksTo(r rune, marks int) int {
	if r < 0x300 || !unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	return marks + 1
}

// Hidden reports whether a character is invisible: controls, format characters
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
