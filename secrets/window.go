package secrets

import (
	"cmp"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// searcher finds all matches of one rule's expression, the same ones as
// Regexp.FindAllStringIndex, by looking only at places where a literal of an
// anchor stands.
//
// At each such place two automata run, one backwards over what must stand before
// the literal and one forwards from it. If either fails, no match passes through
// here. Otherwise the place is a hit, with the smallest start and the largest end
// of the matches through it. Each match is a path through some hit, so the
// leftmost match begins at the smallest start of all hits. Where the hits with that
// start leave a choice of ends, the expression itself, tied to the start, decides
// which of the paths it prefers. It sees the text from one character before the start, for the sake of \b, to one
// character past the largest end of the hits with that start; an end beyond that
// can only come from the cut being taken for the end of the text, and the text is
// then given whole. The search goes on behind the match.
type searcher struct {
	anchors      []*anchorSearch
	needsKeyword bool // a match does not imply that the text has a keyword

	source   string
	tree     lazy[*syntax.Regexp]
	start    lazy[*regexp.Regexp]
	amid     lazy[*regexp.Regexp]
	anywhere lazy[*dfa]
}

// anchorSearch is an anchor with its automata.
type anchorSearch struct {
	anchor
	of     *searcher
	before lazy[*dfa]
	from   lazy[*dfa]
}

// lazy is made at the first use. There are thousands: a function for each would cost more
// than most texts do.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(make func() T) T {
	l.once.Do(func() { l.value = make() })
	return l.value
}

func (s *searcher) parsed() *syntax.Regexp {
	return s.tree.get(func() *syntax.Regexp { return mustParse(s.source) })
}

// first is the expression at the beginning of a text.
func (s *searcher) first() *regexp.Regexp {
	return s.start.get(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + s.source + `)`) })
}

// inside is the expression behind one character.
func (s *searcher) inside() *regexp.Regexp {
	return s.amid.get(func() *regexp.Regexp { return regexp.MustCompile(`\A(?s:.)(?:` + s.source + `)`) })
}

// backwards reads what stands before the literal.
func (a *anchorSearch) backwards() *dfa {
	return a.before.get(func() *dfa {
		before, _ := parts(a.of.parsed(), a.path)
		return newDFA(reverse(before))
	})
}

// forwards reads the literal and what follows.
func (a *anchorSearch) forwards() *dfa {
	return a.from.get(func() *dfa {
		_, from := parts(a.of.parsed(), a.path)
		return newDFA(from)
	})
}

// hit is a place that matches may pass through.
type hit struct {
	anchor *anchorSearch
	at     int // of the literal
	start  int // the smallest of the matches through here
	least  int // the smallest end of the matches through here
	end    int // the largest
}

func newSearcher(expr string, anchors []anchor, keywords []string) *searcher {
	s := &searcher{source: expr}
	own := make([]anchorSearch, len(anchors))
	implied := true
	for i, a := range anchors {
		own[i].anchor, own[i].of = a, s
		s.anchors = append(s.anchors, &own[i])
		for _, text := range a.literals {
			implied = implied && slices.ContainsFunc(keywords, func(k string) bool { return strings.Contains(text, k) })
		}
	}
	// The matcher looks for longer keywords in ASCII: a rule with another one runs without any.
	foreign := slices.ContainsFunc(keywords, func(k string) bool {
		return len(k) < minLiteral || strings.ContainsFunc(k, func(c rune) bool { return c > unicode.MaxASCII })
	})
	s.needsKeyword = len(keywords) > 0 && !foreign && (s.anchors == nil || !implied)
	return s
}

// probe runs an anchor's automata at a place and says whether it is a hit.
func (a *anchorSearch) probe(text string, at int) (h hit, ok bool, read int) {
	least, end, ahead := a.forwards().forward(text, at)
	if end < 0 {
		return hit{}, false, ahead
	}
	start, back := a.backwards().backward(text, at, 0)
	return hit{anchor: a, at: at, start: start, least: least, end: end}, start >= 0, ahead + back
}

// matches returns the matches of the expression, given all hits. It reports false
// if it came upon something that cannot be, and the caller must search the text
// in the ordinary way.
func (s *searcher) matches(text string, hits []hit) (found [][2]int, ok bool) {
	order := func(a, b hit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.at, b.at)) }
	slices.SortFunc(hits, order)
	hits = slices.Compact(hits) // literals may begin at the same place
	from := 0                   // the end of the last match
	spent := 0                  // characters read, and hits passed, on behalf of those that match elsewhere
	for len(hits) > 0 {
		if spent > maxRead*len(text) {
			return nil, false
		}
		h := hits[0]
		if h.start < from {
			// The last match has taken the text where this hit's match would begin.
			rest := hits[1:]
			if h.at >= from {
				start, read := h.anchor.backwards().backward(text, h.at, from)
				spent += max(0, read-freeRead)
				if h.start = start; h.start >= 0 {
					at, _ := slices.BinarySearchFunc(rest, h, order)
					spent += max(0, at-freeRead)
					copy(hits, rest[:at])
					hits[at] = h
					continue
				}
			}
			hits = rest
			continue
		}
		least, end, same := h.least, h.end, 1
		for same < len(hits) && hits[same].start == h.start {
			least, end = min(least, hits[same].least), max(end, hits[same].end)
			same++
		}
		spent += max(0, same-freeRead)
		if least < end {
			var known bool
			if end, known = s.prefer(text, h.start, end); !known {
				return nil, false
			}
		}
		found = append(found, [2]int{h.start, end})
		from = end
	}
	return found, true
}

// prefer returns the end of the match that begins at start, of which the largest
// possible end is known.
func (s *searcher) prefer(text string, start, end int) (int, bool) {
	for _, cut := range []int{min(len(text), end+utf8.UTFMax), len(text)} {
		if start == 0 {
			if m := s.first().FindStringIndex(text[:cut]); m != nil && m[1] <= end {
				return m[1], true
			}
			continue
		}
		_, width := utf8.DecodeLastRuneInString(text[:start])
		before := start - width
		if m := s.inside().FindStringIndex(text[before:cut]); m != nil && before+m[1] <= end {
			return before + m[1], true
		}
	}
	return 0, false
}
