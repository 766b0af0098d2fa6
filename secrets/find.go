package secrets

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// Limits of the characters that the automata of one rule read in one search. Beyond them, the expression of the rule
// runs over the whole text. The automata would take quadratic time for a text of many beginnings of private keys.
const (
	freeRead = 256 // characters at one offset that are not counted
	maxRead  = 64  // times the length of the text; regexp is slower than an automaton by a larger factor
)

type search struct {
	set   *ruleSet
	text  string
	hits  []ruleHit
	read  []int  // characters counted, by rule
	seen  bitset // rules with a keyword in the text
	whole bitset // rules that run over the whole text
	heads []int  // offsets of headParts in the text
	found []finding
}

type ruleHit struct {
	rule int32
	hit
}

// bitset is a set of rules, by index.
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

// maxDepth bounds how often decoded text is decoded again.
const maxDepth = 3

// search returns the findings in text, in its decoded view and in its base64, sorted by the start of the secret.
func (set *ruleSet) search(text string) []finding { return set.searchDeep(text, maxDepth) }

func (set *ruleSet) searchDeep(text string, depth int) []finding {
	found := set.findAll(text)
	var more []finding
	if depth > 0 {
		more = set.findEncoded(text, depth-1)
		if v, changed := normalise(text, set.labels); changed {
			for _, w := range v.windows() {
				for _, f := range set.searchDeep(w.text, depth-1) {
					more = append(more, w.place(f, text))
				}
			}
		}
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

// findAll returns the findings of all rules in the text and in its tables.
func (set *ruleSet) findAll(text string) []finding {
	found, heads := set.findRules(text)
	if len(heads) == 0 {
		return found
	}
	if more := set.findInTables(text, heads); len(more) > 0 {
		found = append(found, more...)
		slices.SortFunc(found, byPlace)
	}
	return found
}

// findRules returns the findings of all rules, sorted by the start of the secret, and the offsets of headParts.
func (set *ruleSet) findRules(text string) (found []finding, heads []int) {
	words := len(set.rules)/64 + 1
	both := make(bitset, 2*words)
	s := &search{set: set, text: text, seen: both[:words], whole: both[words:]}
	set.index.matcher.scan(text, func(id int32, end int) { s.visit(id, end-set.index.literals[id].length, end) })
	s.findWhole()
	s.findHits()
	slices.SortFunc(s.found, byPlace)
	return s.found, s.heads
}

// visit records the literal at text[at:end] and probes its anchors.
func (s *search) visit(id int32, at, end int) {
	l := &s.set.index.literals[id]
	for _, n := range l.enables {
		s.seen.add(n)
	}
	if l.head {
		s.heads = append(s.heads, at)
	}
	for _, ref := range l.anchors {
		if s.whole.has(ref.rule) {
			continue
		}
		if !ref.stands(s.text, end) {
			continue
		}
		h, ok, read := ref.probe(s.text, at)
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

// findWhole runs the rules that have no anchor or exceeded the limit, if the text has one of their keywords.
func (s *search) findWhole() {
	for _, n := range s.set.index.whole {
		s.whole.add(n)
	}
	for n := range s.whole.all() {
		if r := s.set.rules[n]; s.enabled(n) && (r.anchors == nil || !r.nowhere(s.text)) {
			s.appendWhole(r)
		}
	}
}

// enabled reports whether the text has a keyword of a rule, or the rule needs none.
func (s *search) enabled(n int32) bool { return !s.set.rules[n].needsKeyword || s.seen.has(n) }

func (s *search) findHits() {
	hits := s.hits
	slices.SortStableFunc(hits, func(a, b ruleHit) int { return cmp.Compare(a.rule, b.rule) })
	for len(hits) > 0 {
		n, count := hits[0].rule, 1
		for count < len(hits) && hits[count].rule == n {
			count++
		}
		own := make([]hit, count)
		for i := range own {
			own[i] = hits[i].hit
		}
		hits = hits[count:]
		r := s.set.rules[n]
		if s.whole.has(n) || !s.enabled(n) {
			continue
		}
		if matches, ok := r.matches(s.text, own); ok {
			for _, m := range matches {
				s.judge(r, m[0], m[1])
			}
		} else {
			s.appendWhole(r)
		}
	}
}

func (s *search) appendWhole(r *rule) {
	for _, m := range r.Regex.FindAllStringIndex(s.text, -1) {
		s.judge(r, m[0], m[1])
	}
}

func (s *search) judge(r *rule, start, end int) {
	if f, ok := r.judge(s.text, start, end, s.set.global); ok {
		s.found = append(s.found, f)
	}
}

// part is the byte range of a text that is redacted. The text around it is only context.
type part struct{ start, end int }

func all(text string) part { return part{0, len(text)} }

// move adjusts the ends of p for an edit. An end of was in (from, to] moves to offset at of the new text, plus its
// distance to from if the bytes between were kept.
func (p *part) move(was part, from, to, at int, kept bool) {
	moved := func(end int) int {
		if kept {
			return at + end - from
		}
		return at
	}
	if from < was.start && was.start <= to {
		p.start = moved(was.start)
	}
	if from < was.end && was.end <= to {
		p.end = moved(was.end)
	}
}

// place identifies a finding in a text.
type place struct {
	rule       *rule
	start, end int
}

func (f finding) place() place { return place{f.rule, f.start, f.end} }

// byPlace orders findings by the start of the secret, and then by rank, the most specific rule first.
func byPlace(a, b finding) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.rule.rank, b.rule.rank), cmp.Compare(a.end, b.end),
		cmp.Compare(a.rule.RuleID, b.rule.RuleID))
}

// dropCovered removes a finding whose secret lies inside the secret of a more specific rule, such as half of a
// private key whose whole was found.
func dropCovered(found []finding) []finding {
	if len(found) < 2 {
		return found
	}
	var reach [rankGeneric + 1]int // the largest end of the findings so far, by rank
	kept := found[:0]
	for _, f := range found { // sorted: a finding that covers f comes before it
		covered := false
		for r := range f.rule.rank {
			covered = covered || f.end <= reach[r]
		}
		if !covered {
			kept = append(kept, f)
		}
		reach[f.rule.rank] = max(reach[f.rule.rank], f.end)
	}
	return kept
}
