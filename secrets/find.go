package secrets

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
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
	set    *ruleSet
	text   string
	lines  *lineIndex
	hits   []ruleHit
	read   []int  // characters counted, by rule
	seen   bitset // rules of which the text has a keyword
	whole  bitset // rules that run over the whole text
	hazard bool   // the text has letters that fold in unexpected ways
	gated  bitset // rules that a keyword of theirs lets run; nil: what they match implies it
	spots  []spot
	found  []finding
	ends   map[int][]int // where the first of found begin, by where they end
	known  int           // how many of found are in ends
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
		for _, v := range decodings(text, set.labels) {
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

// find returns gitleaks' findings in text, by the position of the secret.
func (set *ruleSet) find(text string) []finding {
	found, _ := set.findRules(text)
	return found
}

// findAll returns the findings of find, and those in values that stand apart from their names.
func (set *ruleSet) findAll(text string) []finding {
	found, spots := set.findRules(text)
	if more := set.findApart(text, spots); len(more) > 0 {
		found = append(found, more...)
		slices.SortFunc(found, byPlace)
	}
	return found
}

func (set *ruleSet) findRules(text string) ([]finding, []spot) {
	words := len(set.rules)/64 + 1
	both := make(bitset, 2*words)
	s := &search{set: set, text: text, lines: newLineIndex(text), seen: both[:words], whole: both[words:]}
	set.index.matcher.scan(text, func(id int32, end int) { s.visit(id, end-set.index.literals[id].length, end) })
	if s.hazard {
		s.visitFolded()
	}
	s.findWhole()
	s.findHits()
	return set.report(s.found), s.spots
}

// visitFolded takes note of the literals of a text with letters that are not in ASCII and
// that expressions may take for letters that are. Of the keywords gitleaks looks for in
// the text in lower case, which is another thing.
func (s *search) visitFolded() {
	s.hits, s.read, s.spots = nil, nil, nil
	clear(s.seen)
	clear(s.whole)
	s.gated = make(bitset, len(s.seen))
	lower := strings.ToLower(s.text)
	for n, r := range s.set.rules {
		if r.hasKeyword(lower) {
			s.gated.add(int32(n))
			s.seen.add(int32(n))
		}
	}
	v := folded(s.text)
	s.set.index.matcher.scan(v.text, func(id int32, end int) {
		s.visit(id, v.raw(end-s.set.index.literals[id].length), v.rawEnd(end))
	})
}

// folded is a text with the letters of foldHazards as those that they fold to.
func folded(text string) view {
	w := viewWriter{text: text}
	for at, c := range text {
		if c < utf8.RuneSelf {
			continue
		}
		if plain := foldsTo(c); plain != 0 {
			w.replace(at, utf8.RuneLen(c), string(plain))
		}
	}
	if v, changed := w.view(); changed {
		return v
	}
	return view{text: text}
}

// visit takes note of a literal that stands between two offsets.
func (s *search) visit(id int32, at, end int) {
	l := &s.set.index.literals[id]
	if s.gated == nil {
		for _, n := range l.enables {
			s.seen.add(n)
		}
	}
	s.hazard = s.hazard || l.hazard
	if l.spot != noSpot {
		s.spots = append(s.spots, spot{l.spot, at, end})
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
		if r := s.set.rules[n]; s.enabled(n) && (r.anchors == nil || !r.nowhere(s.text)) {
			s.appendWhole(r)
		}
	}
}

// enabled reports whether the text has a keyword of a rule, as far as that is not
// implied by a match.
func (s *search) enabled(n int32) bool {
	if s.gated != nil {
		return s.gated.has(n)
	}
	return !s.set.rules[n].needsKeyword || s.seen.has(n)
}

// findHits turns the hits of each rule into its findings.
func (s *search) findHits() {
	hits := s.hits
	slices.SortStableFunc(hits, func(a, b ruleHit) int {
		return cmp.Or(s.turn(a.rule)-s.turn(b.rule), cmp.Compare(a.rule, b.rule))
	})
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

// turn sorts the rules that need not look at what others have found behind those.
func (s *search) turn(n int32) int {
	if s.set.rules[n].fallback {
		return 1
	}
	return 0
}

// foundIn returns where a secret begins that is what a match is about and has been found
// already, or -1: one that begins behind a quote, a space or an equals sign and ends with
// the match or right before it.
func (s *search) foundIn(start, end int) int {
	starts := func(from, to int) bool {
		return start < from && from < to && to-from >= minRepeated && strings.IndexByte("\"'` =\t\n", s.text[from-1]) >= 0
	}
	if len(s.found) <= fewSecrets {
		for _, f := range s.found {
			if (f.end == end || f.end == end-1) && starts(f.start, f.end) {
				return f.start
			}
		}
		return -1
	}
	if s.ends == nil {
		s.ends = map[int][]int{}
	}
	for ; s.known < len(s.found); s.known++ {
		f := s.found[s.known]
		s.ends[f.end] = append(s.ends[f.end], f.start)
	}
	for _, to := range []int{end, end - 1} {
		for _, from := range s.ends[to] {
			if starts(from, to) {
				return from
			}
		}
	}
	return -1
}

func (r *rule) hasKeyword(lower string) bool {
	return len(r.Keywords) == 0 ||
		slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(lower, k) })
}

func (s *search) appendWhole(r *rule) {
	for _, m := range r.Regex.FindAllStringIndex(s.text, -1) {
		s.judge(r, m[0], m[1])
	}
}

func (s *search) judge(r *rule, start, end int) {
	known := -1
	if r.fallback {
		// What was found may be the rest of a secret, or stand behind it in the same match.
		if known = s.foundIn(start, end); known >= 0 && !strings.ContainsAny(s.text[start:known], "0123456789") {
			return
		}
	}
	if f, ok := r.judge(s.lines, start, end, s.set.global); ok && (known < 0 || f.start < known) {
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
