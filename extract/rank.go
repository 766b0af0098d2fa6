package extract

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

// The limits of rank's selection.
const (
	maxRawTokens = 1500 // of one raw memory
	maxClaims    = 950  // tokens of its claims
)

var most = map[memoir.StatementKind]int{
	memoir.StatementOutcome: 10, memoir.StatementPreference: 12, memoir.StatementFailure: 8,
	memoir.StatementCommand: 16, memoir.StatementEnvironment: 5, memoir.StatementDecision: 8,
	memoir.StatementFinding: 12, memoir.StatementOpen: 4, memoir.StatementRefuted: 4, memoir.StatementClaim: 40,
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
		if kind != memoir.StatementCommand {
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

// stillHolds reports whether the session neither removed nor restored a file, on which a candidate depends, after it. A
// person's words without a secret that was in them are not what they said: of a rule, a claim for their review says so.
// Nobody can run a command without it.
func (s *session) stillHolds(c *candidate) bool {
	last := c.Items[len(c.Items)-1]
	if strings.Contains(c.Quote, "[REDACTED") && c.Signal == memoir.SignalRule {
		words := c.Quote
		*c = state(memoir.SignalCut, memoir.StatementClaim, "a rule that had a secret is left out: "+quote(words),
			c.Items...)
		c.Quote, c.worth = words, maxWorth+1 // it waits in review, so claims of the agent do not push it out
	}
	ran := c.Fix
	if c.Kind == memoir.StatementCommand {
		ran = c.Command
	}
	return (c.Signal == memoir.SignalCut || !strings.Contains(c.Quote+ran, "[REDACTED")) &&
		!slices.ContainsFunc(c.paths, func(p string) bool { return s.gone[p] > last })
}
