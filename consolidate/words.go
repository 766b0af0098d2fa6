package consolidate

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// fillers are words that do not change what a statement says.
var fillers = sync.OnceValue(func() map[string]bool {
	return set(`a an the and or but of to in on at for with by from as is are was were be been it its this that these
		those so then than please also just ok okay i you we me my our your will would should can could do does did
		done has have had when if into up out there here must always make sure ensure prefer`)
})

// negations turn what follows them, up to the end of the clause, into what is not wanted.
var negations = sync.OnceValue(func() map[string]bool {
	return set(`never not no don't dont doesn't avoid stop without longer cannot can't mustn't shouldn't`)
})

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// words are the words of a statement that carry meaning, sorted, each once, with
// plural and tense endings off. What a negation rejects is marked by "!".
func words(text string) []string {
	var out []string
	negative := false
	for clause := range strings.FieldsFuncSeq(strings.ReplaceAll(text, ". ", "; "), clauseEnd) {
		negative = false
		for _, w := range split(clause) {
			mark := ""
			if negative {
				mark = "!"
			}
			switch {
			case negations()[w]:
				negative = true
			case w == "but":
				negative = false
			case fillers()[w]:
			case w[0] >= 0x80: // a script without spaces: compare by pairs of characters
				runes := []rune(w)
				for i := range max(1, len(runes)-1) {
					out = append(out, mark+string(runes[i:min(i+2, len(runes))]))
				}
			default:
				out = append(out, mark+stem(w))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// clauseEnd reports whether a negation reaches no further than a character.
func clauseEnd(r rune) bool { return strings.ContainsRune(",;:()!?—\n", r) }

// split are the words of a text in lower case, in order.
func split(text string) []string {
	var out []string
	text = strings.NewReplacer("’", "'", "instead of", "not", "rather than", "not").Replace(strings.ToLower(text))
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./#'", r)
	}) {
		if w = strings.TrimRight(strings.Trim(w, "_./#'"), "-"); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// stem takes common English endings off a plain word.
func stem(w string) string {
	if strings.ContainsAny(w, "-_./#0123456789") {
		return w
	}
	if base, ok := strings.CutSuffix(w, "ies"); ok && len(base) >= 3 {
		return base + "y"
	}
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if base, ok := strings.CutSuffix(w, end); ok && (len(base) >= 4 || end == "s" && len(base) >= 2) {
			return base
		}
	}
	return w
}

// jaccard is the share of all words of two sorted sets that both have.
func jaccard(a, b []string) float64 {
	both := common(a, b)
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// common counts the words that two sorted sets share.
func common(a, b []string) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}

// alike reports whether two sets of words say the same: nearly the same words.
func alike(a, b []string) bool { return len(a) > 0 && jaccard(a, b) >= 0.7 }

// A stance is what a rule wants and what it rejects, in sorted words.
type stance struct{ wants, rejects []string }

// stanceOf reads a rule; what the agent had said before does not count.
func stanceOf(rule string) stance {
	var s stance
	rule, _, _ = strings.Cut(rule, "(after:")
	for _, w := range words(rule) {
		switch rejected, no := strings.CutPrefix(w, "!"); {
		case general()[rejected]:
		case no:
			s.rejects = append(s.rejects, rejected)
		default:
			s.wants = append(s.wants, w)
		}
	}
	return s
}

// general are words, without their endings, that name no subject.
var general = sync.OnceValue(func() map[string]bool {
	return set(`use us run runn add write writ keep go any more anymore again only all every now`)
})

// overrides reports whether a later rule takes an earlier one back: it rejects what
// that one wants, or wants what that one rejects, and is about little else.
func (s stance) overrides(earlier stance) bool {
	opposite := func(rejects, wants []string) bool {
		return len(rejects) > 0 && len(wants) > 0 && common(rejects, wants) == min(len(rejects), len(wants)) &&
			2*common(rejects, wants) >= max(len(rejects), len(wants))
	}
	return opposite(s.rejects, earlier.wants) || opposite(earlier.rejects, s.wants)
}

// forbidden are the words that a rule's negations stand before: what must not be done or
// used, as in "never push from here".
func forbidden(rule string) map[string]bool {
	out := map[string]bool{}
	rule, _, _ = strings.Cut(rule, "(after:")
	for clause := range strings.FieldsFuncSeq(strings.ReplaceAll(rule, ". ", "; "), clauseEnd) {
		negative := false
		for _, w := range split(clause) {
			switch {
			case negations()[w]:
				negative = true
			case negative && !fillers()[w] && !general()[stem(w)]:
				out[stem(w)] = true
				negative = false
			}
		}
	}
	return out
}
