package memoir

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folded is a text as it is compared with one that a person looks for: in lower case
// and one Unicode form, without characters that nobody sees, each run of space and
// line breaks as one blank.
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
		case r > ' ' && r < utf8.RuneSelf: // most of what there is
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

// isFolded is a quick look that is sure of plain text.
func isFolded(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf, c >= 'A' && c <= 'Z', c < ' ', c == ' ' && i > 0 && text[i-1] == ' ':
			return false
		}
	}
	return true
}

// LinesHolding lists the lines of a text, from 1, on which a folded text stands, or a
// part of it where it goes on over the end of a line. It does not over an empty one.
func LinesHolding(text, folded string) []int {
	type start struct{ at, line int }
	var all strings.Builder
	var starts []start
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(Folded(line))
		switch {
		case line == "":
			all.WriteByte('\n')
			continue
		case all.Len() > 0:
			all.WriteByte(' ')
		}
		starts = append(starts, start{all.Len(), n})
		all.WriteString(line)
	}
	if folded == "" {
		return nil
	}
	var out []int
	whole := all.String()
	for from := 0; ; from++ {
		i := strings.Index(whole[from:], folded)
		if i < 0 {
			return out
		}
		from += i
		first, found := slices.BinarySearchFunc(starts, from, func(s start, at int) int { return s.at - at })
		if !found {
			first--
		}
		for _, s := range starts[first:] {
			if s.at >= from+len(folded) {
				break
			}
			if len(out) == 0 || out[len(out)-1] < s.line {
				out = append(out, s.line)
			}
		}
	}
}
