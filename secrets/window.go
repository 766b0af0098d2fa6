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

// searcher finds all matches of one rule's expression, the same as Regexp.FindAllStringIndex. It looks only at
// offsets of an anchor's literals.
//
// At each offset two automata run: one backwards over the text before the literal, one forwards from the literal. If
// either fails, no match includes this literal. Otherwise it is a hit, with the smallest start and the largest end
// of the matches that include it. Each match includes a hit, so the leftmost match begins at the smallest start of
// all hits. If the hits with that start allow several ends, the expression itself, anchored at the start, selects
// the one that it prefers. It reads from one character before the start, for \b, to at least one character after the
// largest end. A match beyond that end can only result from the cut, so the expression then reads the whole text.
// The search continues after the match.
type searcher struct {
	anchors      []*anchorSearch
	needsKeyword bool // a match does not imply a keyword in the text

	source   string
	tree     lazy[*syntax.Regexp]
	start    lazy[*regexp.Regexp]
	amid     lazy[*regexp.Regexp]
	anywhere lazy[*dfa]
}

type anchorSearch struct {
	anchor
	of     *searcher
	before lazy[*dfa]
	from   lazy[*dfa]
}

// lazy is a value computed at its first use. get takes the function as an argument, since thousands of stored
// closures would cost more than the search of most texts.
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

// first returns the expression at the beginning of a text.
func (s *searcher) first() *regexp.Regexp {
	return s.start.get(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + s.source + `)`) })
}

// inside returns the expression after the first character of a text.
func (s *searcher) inside() *regexp.Regexp {
	return s.amid.get(func() *regexp.Regexp { return regexp.MustCompile(`\A(?s:.)(?:` + s.source + `)`) })
}

// backwards returns the automaton for the text before the literal.
func (a *anchorSearch) backwards() *dfa {
	return a.before.get(func() *dfa {
		before, _ := parts(a.of.parsed(), a.path)
		return newDFA(reverse(before))
	})
}

// forwards returns the automaton for the literal and the text after it.
func (a *anchorSearch) forwards() *dfa {
	return a.from.get(func() *dfa {
		_, from := parts(a.of.parsed(), a.path)
		return newDFA(from)
	})
}

// hit is a literal in a text that matches can include.
type hit struct {
	anchor *anchorSearch
	at     int // offset of the literal
	start  int // smallest start of the matches
	least  int // smallest end of the matches
	end    int // largest end of the matches
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
	// The index holds only ASCII keywords of at least minLiteral bytes. A rule with another keyword runs without any.
	foreign := slices.ContainsFunc(keywords, func(k string) bool {
		return len(k) < minLiteral || strings.ContainsFunc(k, func(c rune) bool { return c > unicode.MaxASCII })
	})
	s.needsKeyword = len(keywords) > 0 && !foreign && (s.anchors == nil || !implied)
	return s
}

// probe runs an anchor's automata at an offset. ok reports a hit, and read is the length that they read.
func (a *anchorSearch) probe(text string, at int) (h hit, ok bool, read int) {
	least, end, ahead := a.forwards().forward(text, at)
	if end < 0 {
		return hit{}, false, ahead
	}
	start, back := a.backwards().backward(text, at, 0)
	return hit{anchor: a, at: at, start: start, least: least, end: end}, start >= 0, ahead + back
}

// matches returns the matches of the expression, given all hits. ok is false if the work exceeds its limit, or if
// the expression disagrees with the automata. The caller then runs the expression over the whole text.
func (s *searcher) matches(text string, hits []hit) (found [][2]int, ok bool) {
	order := func(a, b hit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.at, b.at)) }
	slices.SortFunc(hits, order)
	hits = slices.Compact(hits) // literals of an anchor may begin at the same offset
	from := 0                   // the end of the last match
	spent := 0                  // characters read and hits passed for overlapping hits
	for len(hits) > 0 {
		if spent > maxRead*len(text) {
			return nil, false
		}
		h := hits[0]
		if h.start < from {
			// The last match includes the start of this hit, so a match through the hit must begin later.
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

// prefer returns the end of the match that begins at start, given the largest possible end.
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
