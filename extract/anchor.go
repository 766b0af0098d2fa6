package extract

import (
	"strings"
	"unicode"
)

// contentWords are the words of a text that carry meaning, code included.
func contentWords(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.' && r != '/'
	}) {
		w = strings.Trim(w, "-./_")
		if len(w) > 3 || len(w) > 0 && w[0] >= 0x80 {
			out[w] = true
		}
	}
	return out
}

// overlap is the share of the smaller set that the larger one holds.
func overlap(a, b map[string]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 3 {
		return 0
	}
	return float64(held(a, b)) / float64(len(a))
}

// held counts the words of a that b holds.
func held(a, b map[string]bool) int {
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// anchors counts what ties a sentence to something concrete: code spans, paths,
// identifiers, flags, versions.
func anchors(s string) int {
	n := strings.Count(s, "`") / 2
	for w := range strings.FieldsSeq(withoutCode(s)) {
		w = strings.Trim(w, ".,;:!?()[]\"'“”*")
		switch {
		case strings.HasPrefix(w, "http"), len(w) < 3:
		case strings.HasPrefix(w, "--") && len(w) > 4, strings.Contains(w, "::"), strings.HasSuffix(w, "()"), strings.Contains(w, "_") && !strings.HasPrefix(w, "_"),
			strings.Contains(w, "/") && looksLikeFile(w) && strings.Contains(w, "."), camel(w), version(w):
			n++
		}
	}
	return n
}

func withoutCode(s string) string {
	if !strings.Contains(s, "`") {
		return s
	}
	var b strings.Builder
	span := false
	for i := range len(s) {
		if s[i] == '`' {
			span = !span
		} else if !span {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func camel(w string) bool {
	for i := 1; i < len(w); i++ {
		if w[i] >= 'A' && w[i] <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z' {
			return w != "GitHub" && w != "JavaScript" && w != "TypeScript" && w != "YouTube" && w != "GitLab"
		}
	}
	return false
}

func version(w string) bool {
	w = strings.TrimPrefix(w, "v")
	dots := 0
	for i := range len(w) {
		if w[i] == '.' {
			dots++
		} else if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return dots >= 1 && len(w) >= 3
}
