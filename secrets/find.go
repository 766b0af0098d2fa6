package secrets

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// What the automata of one rule may read in one text before the rule runs over the
// whole of it instead: a text of nothing but beginnings of private keys would
// otherwise take time that grows with its length squared.
const (
	freeRead = 256 // characters at one place that are not counted
	maxRead  = 64  // times the text's length; regexp takes longer than an automaton by more than that
)

// search is one text being searched.
type search struct {
	set   *ruleSet
	text  string
	hits  []ruleHit
	read  []int  // characters counted, by rule
	seen  bitset // rules of which the text has a keyword
	whole bitset // rules that run over the whole text
	heads []int  // where parts of names stand that may be heads of columns
	found []finding
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

// maxDepth bounds how often what is found in a text by decoding it is decoded again.
const maxDepth = 3

// search returns gitleaks' findings in text, those that appear once what is escaped in it is
// decoded, and those in what is base64 in it, by the position of the secret.
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

// findAll returns the findings of all rules, and those in tables.
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

// findRules returns the findings of all rules by the position of the secret, and where tables may
// begin.
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

// visit takes note of a literal that stands between two offsets.
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

// findWhole runs the rules that have no anchor, and those that have read too much, if the text
// has a keyword of theirs.
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

// enabled reports whether the text has a keyword of a rule, as far as that is not implied by a
// match.
func (s *search) enabled(n int32) bool { return !s.set.rules[n].needsKeyword || s.seen.has(n) }

// findHits turns the hits of each rule into its findings.
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

// part is the stretch of a text that is asked for, in bytes. What stands around it is there
// for what it tells of it.
type part struct{ start, end int }

func all(text string) part { return part{0, len(text)} }

// move takes the ends of a part along that lie behind an offset and not behind another, when
// what is between them comes to stand at a place in another text: as it was, or, if it is
// not kept, as nothing.
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

// place tells findings of one text apart.
type place struct {
	rule       *rule
	start, end int
}

func (f finding) place() place { return place{f.rule, f.start, f.end} }

// byPlace sorts by the beginning of the secret; of those that begin together, the most specific rule comes first.
func byPlace(a, b finding) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.rule.rank, b.rule.rank), cmp.Compare(a.end, b.end),
		cmp.Compare(a.rule.RuleID, b.rule.RuleID))
}

// dropCovered drops findings whose secret lies inside of what a more specific rule
// found: the two halves of a private key, say, where the whole key was seen.
func dropCovered(found []finding) []finding {
	if len(found) < 2 {
		return found
	}
	var reach [rankGeneric + 1]int // how far the findings of each rank so far extend
	kept := found[:0]
	for _, f := range found { // by place: what covers f comes before it
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
