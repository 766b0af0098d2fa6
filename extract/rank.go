package extract

import (
	"cmp"
	"slices"

	"memoir"
)

// The limits of rank's selection.
const (
	maxRawTokens = 1500 // of one raw memory
	maxClaims    = 950  // tokens of its claims
	maxPurpose   = 4    // commands of one purpose
)

var most = map[memoir.StatementKind]int{
	memoir.StatementOutcome: 10, memoir.StatementPreference: 12, memoir.StatementFailure: 8,
	memoir.StatementCommand: 16, memoir.StatementEnvironment: 5, memoir.StatementDecision: 8,
	memoir.StatementFinding: 12, memoir.StatementOpen: 4, memoir.StatementClaim: 40,
}

// rank orders candidates and keeps those that fit: certain ones before claims, those of more worth before others, newer
// ones before older ones, commands by number of occurrences. It returns them by kind, and within most kinds in order
// of items.
func rank(all []candidate) []memoir.Statement {
	byKind := map[memoir.StatementKind][]candidate{}
	for _, c := range all {
		byKind[c.Kind] = append(byKind[c.Kind], c)
	}
	var out []memoir.Statement
	left, claims := maxRawTokens, maxClaims
	for _, kind := range memoir.StatementKinds {
		list := byKind[kind]
		if kind == memoir.StatementCommand {
			list = perPurpose(list)
		} else {
			slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Or(b.worth-a.worth, b.Items[0]-a.Items[0]) })
		}
		kept := list[:0:0]
		for _, c := range distinct(list) {
			cost := memoir.Tokens(c.Line()) + 4
			if len(kept) == most[kind] || cost > left || kind == memoir.StatementClaim && cost > claims {
				break
			}
			left -= cost
			if kind == memoir.StatementClaim {
				claims -= cost
			}
			kept = append(kept, c)
		}
		if kind != memoir.StatementCommand {
			slices.SortStableFunc(kept, func(a, b candidate) int { return a.Items[0] - b.Items[0] })
		}
		for _, c := range kept {
			out = append(out, c.Statement)
		}
	}
	return out
}

func perPurpose(list []candidate) []candidate {
	n := map[string]int{}
	return slices.DeleteFunc(list, func(c candidate) bool {
		n[c.Purpose]++
		return n[c.Purpose] > maxPurpose
	})
}

// maxCompared bounds the earlier statements that each one is compared with.
const maxCompared = 60

func distinct(list []candidate) []candidate {
	var out []candidate
	var words []memoir.Words
	for _, c := range list {
		w := memoir.WordsOf(c.Line())
		same := false
		for i := max(0, len(words)-maxCompared); i < len(words) && !same; i++ {
			same = c.Text == out[i].Text || c.Kind != memoir.StatementCommand && w.Alike(words[i]) >= 0.7
		}
		if !same {
			out, words = append(out, c), append(words, w)
		}
	}
	return out
}

// stillHolds reports whether a candidate is still true at the end of the session. It is not if a file that it depends
// on was removed or restored later, or if a person or the agent retracted the words.
func (s *session) stillHolds(c candidate) bool {
	last := c.Items[len(c.Items)-1]
	for _, p := range c.paths {
		if s.gone[p] > last {
			return false
		}
	}
	return c.words == "" || !s.retractedAfter(c.words, last)
}

// retractions begin a sentence that retracts an earlier one.
var retractions = []string{
	"never mind", "scratch that", "forget", "on second thought", "actually no", "i changed my mind", "i was wrong",
	"i misread", "that was wrong", "correction", "undo that", "revert that", "wait no",
}

// maxRetractions bounds the retractions, the last ones, that are compared with each statement.
const maxRetractions = 100

// A retraction is the words of a sentence that retracts something.
type retraction struct {
	item  int
	words memoir.Words
}

// retractedAfter reports whether a sentence after an item retracts a text.
func (s *session) retractedAfter(text string, item int) bool {
	var words memoir.Words
	for _, r := range s.retracted {
		if r.item <= item {
			continue
		}
		if words == nil {
			words = memoir.WordsOf(text)
		}
		if words.Shared(r.words) >= 3 {
			return true
		}
	}
	return false
}

func (s *session) retracting() []retraction {
	var out []retraction
	add := func(item int, text string) {
		if startsAny(withoutLead(lowerWords(text)), retractions...) {
			out = append(out, retraction{item, memoir.WordsOf(text)})
		}
	}
	for _, t := range s.turns {
		for _, text := range t.ask.own {
			add(t.ask.item, text)
		}
		for _, says := range t.says {
			for _, p := range paragraphs(says.text) {
				for _, text := range sentences(p.text) {
					add(says.item, text)
				}
			}
		}
	}
	return out[max(0, len(out)-maxRetractions):]
}
