package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// Limits of the characters that the automata of one rule read in one search. Beyond them, the expression of the rule
// runs over the whole text. The automata would take quadratic time for a text of many beginnings of private keys.
const (
	freeRead = 256 // characters at one offset that are not counted
	maxRead  = 64  // times the length of the text; regexp is slower than an automaton by a larger factor
)

// search is the search of one text. Rules are known by their index in the set.
type search struct {
	set   *ruleSet
	text  string
	hits  map[int32][]hit
	read  map[int32]int // characters counted, by rule
	seen  []uint64      // a bit for each rule with a keyword in the text
	heads []int         // offsets of headParts in the text
	found []finding
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
		urls := hasURLEscapes(text)
		more = append(more, set.findDecoded(text, urls, depth-1)...)
		if !urls && strings.Contains(text, "%20") { // a password may have it, so the first view keeps it
			more = append(more, set.findDecoded(text, true, depth-1)...)
		}
		more = append(more, set.findSplit(text, found)...)
	}
	if len(more) == 0 {
		return dropCovered(found)
	}
	found = append(found, more...)
	slices.SortStableFunc(found, byPlace)
	return dropCovered(slices.CompactFunc(found, func(a, b finding) bool { return byPlace(a, b) == 0 }))
}

// findDecoded returns the findings in the decoded view of a text, with or without URL escapes.
func (set *ruleSet) findDecoded(text string, urls bool, depth int) (found []finding) {
	v, changed := normalise(text, set.labels, urls)
	if !changed {
		return nil
	}
	for _, w := range v.windows() {
		for _, f := range set.searchDeep(w.text, depth) {
			found = append(found, w.place(f))
		}
	}
	return found
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
	s := &search{set: set, text: text, seen: make([]uint64, len(set.rules)/64+1)}
	set.index.matcher.scan(text, func(id int32, end int) { s.visit(id, end-set.index.literals[id].length, end) })
	s.judgeAll()
	slices.SortFunc(s.found, byPlace)
	return s.found, s.heads
}

// visit records the literal at text[at:end] and probes its anchors.
func (s *search) visit(id int32, at, end int) {
	l := &s.set.index.literals[id]
	for _, n := range l.enables {
		s.seen[n>>6] |= 1 << (n & 63)
	}
	if l.head {
		s.heads = append(s.heads, at)
	}
	for _, ref := range l.anchors {
		if !ref.stands(s.text, end) || s.exceeded(ref.rule) {
			continue
		}
		h, ok, read := ref.probe(s.text, at)
		if s.hits == nil && (ok || read > freeRead) {
			s.hits, s.read = map[int32][]hit{}, map[int32]int{}
		}
		if ok {
			s.hits[ref.rule] = append(s.hits[ref.rule], h)
		}
		if read > freeRead {
			s.read[ref.rule] += read
		}
	}
}

// exceeded reports whether a rule's automata have read more than the limit.
func (s *search) exceeded(n int32) bool { return s.read[n] > maxRead*len(s.text) }

// enabled reports whether the text has a keyword of a rule, or the rule needs none.
func (s *search) enabled(n int32) bool {
	return !s.set.rules[n].needsKeyword || s.seen[n>>6]>>(n&63)&1 != 0
}

// judgeAll judges the matches of all rules.
func (s *search) judgeAll() {
	for _, n := range s.set.index.whole {
		if s.enabled(n) {
			s.judgeWhole(s.set.rules[n])
		}
	}
	for n := range s.read {
		if r := s.set.rules[n]; s.exceeded(n) && s.enabled(n) && !r.nowhere(s.text) {
			s.judgeWhole(r)
		}
	}
	for n, hits := range s.hits {
		if s.exceeded(n) || !s.enabled(n) {
			continue
		}
		r := s.set.rules[n]
		matches, ok := r.matches(s.text, hits)
		if !ok {
			s.judgeWhole(r)
		}
		for _, m := range matches {
			s.judge(r, m[0], m[1])
		}
	}
}

// judgeWhole judges the matches of a rule in the whole text.
func (s *search) judgeWhole(r *rule) {
	for _, m := range r.Regex.FindAllStringIndex(s.text, -1) {
		s.judge(r, m[0], m[1])
	}
}

func (s *search) judge(r *rule, start, end int) {
	if f, ok := r.judge(s.text, start, end, s.set.global); ok {
		s.found = append(s.found, f)
	}
}

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
