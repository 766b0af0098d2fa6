package secrets

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// What the automata of one rule may read in one text before the rule runs over the
// whole of it instead: a text of nothing but beginnings of private keys would
// otherwise take time that grows with its length squared.
const (
	freeRead = 256 // characters at one place that are not counted
	maxRead  = 8   // times the text's length
)

// search is one text being searched.
type search struct {
	set    *ruleSet
	text   string
	lines  *lineIndex
	hits   []ruleHit
	read   []int  // characters counted, by rule
	seen   bitset // rules of which the text has a keyword
	whole  bitset // rules that run over the whole text
	hazard bool   // the text has letters that fold in unexpected ways
	found  []finding
}

// ruleHit is a hit of a rule's searcher.
type ruleHit struct {
	rule int32
	hit
}

// bitset is a set of rules by their place.
type bitset []uint64

func (b bitset) add(n int32)      { b[n>>6] |= 1 << (n & 63) }
func (b bitset) has(n int32) bool { return b[n>>6]&(1<<(n&63)) != 0 }

func (b bitset) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(int32(i<<6 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// search returns gitleaks' findings in text, those that appear once escape sequences,
// references and escapes of URLs are resolved or lines that a terminal broke are joined,
// and those in what is base64 in it, by the position of the secret.
func (set *ruleSet) search(text string) []finding { return set.searchDeep(text, maxDepth) }

func (set *ruleSet) searchDeep(text string, depth int) []finding {
	found := set.find(text)
	var more []finding
	for _, read := range readings {
		v, changed := read(text)
		if !changed {
			continue
		}
		for _, f := range set.find(v.text) {
			more = append(more, v.place(f, text))
		}
		if depth > 0 {
			for _, f := range set.findEncoded(v.text, depth-1) {
				more = append(more, v.place(f, text))
			}
		}
	}
	more = append(more, set.findWrapped(text)...)
	if depth > 0 {
		more = append(more, set.findEncoded(text, depth-1)...)
	}
	if len(more) == 0 {
		return dropCovered(found)
	}
	known := map[place]bool{}
	for _, f := range found {
		known[f.place()] = true
	}
	for _, f := range more {
		if !known[f.place()] {
			known[f.place()] = true
			found = append(found, f)
		}
	}
	slices.SortFunc(found, byPlace)
	return dropCovered(found)
}

// find returns gitleaks' findings in text, by the position of the secret.
func (set *ruleSet) find(text string) []finding {
	words := len(set.rules)/64 + 1
	both := make(bitset, 2*words)
	s := &search{set: set, text: text, lines: newLineIndex(text), seen: both[:words], whole: both[words:]}
	set.index.matcher.scan(text, s.visit)
	if s.hazard {
		s.findSlowly()
	} else {
		s.findWhole()
		s.findHits()
	}
	return set.report(s.found)
}

// visit takes note of a literal that ends at an offset.
func (s *search) visit(id int32, end int) {
	l := &s.set.index.literals[id]
	for _, n := range l.enables {
		s.seen.add(n)
	}
	s.hazard = s.hazard || l.hazard
	for _, ref := range l.anchors {
		if s.whole.has(ref.rule) {
			continue
		}
		h, ok, read := s.set.rules[ref.rule].anchors[ref.anchor].probe(s.text, end-l.length)
		if ok {
			s.hits = append(s.hits, ruleHit{ref.rule, h})
		}
		if read > freeRead {
			if s.read == nil {
				s.read = make([]int, len(s.set.rules))
			}
			if s.read[ref.rule] += read; s.read[ref.rule] > maxRead*len(s.text) {
				s.whole.add(ref.rule)
			}
		}
	}
}

// findWhole runs the rules that have no anchor, and those that have read too much,
// if the text has a keyword of theirs.
func (s *search) findWhole() {
	lower := ""
	for _, n := range s.set.index.odd {
		r := s.set.rules[n]
		if r.foreignKeyword {
			if lower == "" {
				lower = strings.ToLower(s.text)
			}
			if r.hasKeyword(lower) {
				s.seen.add(n)
			}
		}
		if r.anchors == nil {
			s.whole.add(n)
		}
	}
	for n := range s.whole.all() {
		if s.enabled(n) {
			s.appendWhole(s.set.rules[n])
		}
	}
}

// enabled reports whether the text has a keyword of a rule, as far as that is not
// implied by a match.
func (s *search) enabled(n int32) bool { return !s.set.rules[n].needsKeyword || s.seen.has(n) }

// findHits turns the hits of each rule into its findings.
func (s *search) findHits() {
	hits := s.hits
	slices.SortStableFunc(hits, func(a, b ruleHit) int {
		return cmp.Or(s.turn(a.rule)-s.turn(b.rule), cmp.Compare(a.rule, b.rule))
	})
	for len(hits) > 0 {
		n := hits[0].rule
		var own []hit
		for len(hits) > 0 && hits[0].rule == n {
			own = append(own, hits[0].hit)
			hits = hits[1:]
		}
		r := s.set.rules[n]
		if s.whole.has(n) || !s.enabled(n) {
			continue
		}
		if matches, ok := r.matches(s.text, own); ok {
			for _, m := range matches {
				if !r.fallback || !s.foundIn(m[0], m[1]) {
					s.judge(r, m[0], m[1])
				}
			}
		} else {
			s.appendWhole(r)
		}
	}
}

// turn sorts the rules that need not look at what others have found behind those.
func (s *search) turn(n int32) int {
	if s.set.rules[n].fallback {
		return 1
	}
	return 0
}

// foundIn reports whether what a match is about has been found: a secret that begins
// behind a quote, a space or an equals sign and ends with the match or right before it.
func (s *search) foundIn(start, end int) bool {
	return slices.ContainsFunc(s.found, func(f finding) bool {
		return start < f.start && f.start < end && f.end <= end && end-f.end <= 1 && f.end-f.start >= minRepeated &&
			strings.IndexByte("\"'` =\t\n", s.text[f.start-1]) >= 0
	})
}

// findSlowly searches as gitleaks does: each rule of which the text has a keyword
// runs over the whole text.
func (s *search) findSlowly() {
	lower := strings.ToLower(s.text)
	for _, late := range []bool{false, true} {
		for _, r := range s.set.rules {
			if r.fallback == late && r.hasKeyword(lower) {
				s.appendWhole(r)
			}
		}
	}
}

func (r *rule) hasKeyword(lower string) bool {
	return len(r.Keywords) == 0 ||
		slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(lower, k) })
}

func (s *search) appendWhole(r *rule) {
	for _, m := range r.Regex.FindAllStringIndex(s.text, -1) {
		if !r.fallback || !s.foundIn(m[0], m[1]) {
			s.judge(r, m[0], m[1])
		}
	}
}

func (s *search) judge(r *rule, start, end int) {
	if f, ok := r.judge(s.lines, start, end, s.set.global); ok {
		s.found = append(s.found, f)
	}
}
