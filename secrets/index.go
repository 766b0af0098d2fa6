package secrets

import (
	"maps"
	"slices"
)

// index knows for every literal of every rule what to do where it stands.
type index struct {
	matcher  *matcher
	literals []literal
	odd      []int32 // rules that have no anchor, or a keyword that the matcher does not look for
}

// literal is what one string of the matcher means.
type literal struct {
	length  int
	anchors []anchorRef
	enables []int32 // rules of which it is a keyword
	hazard  bool
	spot    spotKind
}

// anchorRef is an anchor and the place of its rule in the rule set.
type anchorRef struct {
	*anchorSearch
	rule int32
}

func newIndex(rules []*rule) index {
	var x index
	place := make(map[string]int, 16*len(rules))
	texts := make([]string, 0, 16*len(rules))
	x.literals = make([]literal, 0, 16*len(rules))
	entry := func(text string) *literal {
		at, ok := place[text]
		if !ok {
			at = len(texts)
			place[text] = at
			texts = append(texts, text)
			x.literals = append(x.literals, literal{length: len(text)})
		}
		return &x.literals[at]
	}
	for n, r := range rules {
		for _, a := range r.anchors {
			for _, text := range a.literals {
				l := entry(text)
				ref := anchorRef{a, int32(n)}
				if !slices.Contains(l.anchors, ref) {
					l.anchors = append(l.anchors, ref)
				}
			}
		}
		if r.anchors == nil || r.foreignKeyword {
			x.odd = append(x.odd, int32(n))
		}
		if r.needsKeyword && !r.foreignKeyword {
			for _, keyword := range r.Keywords {
				l := entry(keyword)
				l.enables = append(l.enables, int32(n))
			}
		}
	}
	for _, text := range foldHazards {
		entry(text).hazard = true
	}
	for _, text := range slices.Sorted(maps.Keys(spotWords)) {
		entry(text).spot = spotWords[text]
	}
	x.matcher = newMatcher(texts)
	return x
}
