package secrets

import "unicode/utf8"

// A rule that has read too much from its anchors runs over the whole text, and regexp takes
// some microseconds for each byte where an expression counts. Texts that make a rule read so
// much mostly hold nothing that it matches: an automaton tells that.
const (
	maxSought   = 512     // states of it: an expression that needs more is left to regexp
	soughtPiece = 4 << 10 // bytes that are read before the states are counted again
)

// sought looks for the expression anywhere in a text.
func (s *searcher) sought() *dfa {
	return s.anywhere.get(func() *dfa { return newDFA(mustParse("(?s:.*?)(?:" + s.source + ")")) })
}

// nowhere reports whether the expression is known to match nowhere in a text.
func (s *searcher) nowhere(text string) bool {
	b := beginnings{text: text, d: s.sought()}
	for to := 0; ; {
		to = min(len(text), to+soughtPiece)
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to++
		}
		switch found := b.accept(to); {
		case b.decided:
			return !b.accepted
		case to == len(text):
			return !found
		case b.d.size() > maxSought:
			return false
		}
	}
}

// size is the number of states that a dfa has.
func (d *dfa) size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.table.Load().states)
}
