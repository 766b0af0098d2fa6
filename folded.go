package memoir

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folded returns a text in the form that is compared with a person's search text: in lower
// case and one Unicode form, without invisible characters, each run of space and line
// breaks as one blank.
func Folded(text string) string {
	if isFolded(text) {
		return text
	}
	text = norm.NFKC.String(text)
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		switch {
		case r > ' ' && r < utf8.RuneSelf: // most characters
			if space {
				b.WriteByte(' ')
				space = false
			}
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			b.WriteByte(byte(r))
			continue
		case unicode.IsSpace(r):
			space = true
			continue
		}
		r = unicode.ToLower(r)
		if r == '\u00ad' || r == '\ufeff' || r >= '\u200b' && r <= '\u200f' || r >= '\u2060' && r <= '\u2064' {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// isFolded is a quick check, which may miss folded text outside ASCII.
func isFolded(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf, c >= 'A' && c <= 'Z', c < ' ', c == ' ' && i > 0 && text[i-1] == ' ':
			return false
		}
	}
	return true
}

// LinesHolding returns the numbers, from 1, of the lines of a text that contain a folded text
// or a part of it. An occurrence may span lines, but not an empty one.
func LinesHolding(text, folded string) []int {
	if folded == "" {
		return nil
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(Folded(line)))
	}
	holds := map[int]bool{}
	for from, first := range lines {
		whole := first
		for to := from; lines[to] != ""; {
			// The occurrence must begin in the first line and end in the last one.
			at := strings.LastIndex(whole[:min(len(whole), len(first)+len(folded)-1)], folded)
			if at >= 0 && at+len(folded) > len(whole)-len(lines[to]) {
				for n := from; n <= to; n++ {
					holds[n+1] = true
				}
			}
			if to++; to == len(lines) || len(whole) >= len(first)+len(folded)-1 {
				break
			}
			whole += " " + lines[to]
		}
	}
	return slices.Sorted(maps.Keys(holds))
}

// RuleKey returns the same key for rules that differ only in letter case, punctuation and code marks.
func RuleKey(text string) string {
	return strings.Join(strings.FieldsFunc(Folded(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c)
	}), " ")
}
