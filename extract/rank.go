package extract

import (
	"slices"
	"strings"

	"memoir"
)

// The numbers that decide what is kept of what the signals found.
const (
	maxRawTokens = 1500 // of one raw memory
	maxClaims    = 950  // tokens of its claims
	maxPurpose   = 4    // commands of one purpose
	sameWords    = 0.8  // share of words from which two statements say the same
)

// most is how many statements of a kind are kept.
var most = map[memoir.StatementKind]int{
	memoir.StatementTask: 10, memoir.StatementOutcome: 10, memoir.StatementPreference: 12,
	memoir.StatementFailure: 8,
	memoir.StatementCommand: 16, memoir.StatementEnvironment: 5, memoir.StatementFile: 6,
	memoir.StatementProcedure: 2,
	memoir.StatementClaim:     40,
}

// rank orders candidates and keeps what fits: certain ones before claims, newer tasks,
// outcomes, preferences and claims before older ones, commands and files by how often
// they occurred. What is kept stands in the order of its kind.
func rank(all []candidate) []memoir.Statement {
	byKind := map[memoir.StatementKind][]candidate{}
	for _, c := range all {
		byKind[c.Kind] = append(byKind[c.Kind], c)
	}
	var out []memoir.Statement
	left, claims := maxRawTokens, maxClaims
	for _, kind := range memoir.StatementKinds {
		list := byKind[kind]
		switch kind {
		case memoir.StatementCommand:
			list = perPurpose(list)
		case memoir.StatementFile:
			slices.SortStableFunc(list, func(a, b candidate) int { return b.times - a.times })
		default:
			slices.SortStableFunc(list, func(a, b candidate) int { return b.Items[0] - a.Items[0] })
		}
		kept := list[:0:0]
		for _, c := range distinct(list) {
			cost := memoir.Tokens(c.Text) + 4
			if len(kept) == most[kind] || cost > left || kind == memoir.StatementClaim && cost > claims {
				break
			}
			left -= cost
			if kind == memoir.StatementClaim {
				claims -= cost
			}
			kept = append(kept, c)
		}
		if kind != memoir.StatementCommand && kind != memoir.StatementFile {
			slices.SortStableFunc(kept, func(a, b candidate) int { return a.Items[0] - b.Items[0] })
		}
		for _, c := range kept {
			out = append(out, c.Statement)
		}
	}
	return out
}

// perPurpose keeps the first commands of every purpose.
func perPurpose(list []candidate) []candidate {
	n := map[string]int{}
	return slices.DeleteFunc(list, func(c candidate) bool {
		purpose, _, _ := strings.Cut(c.Text, ":")
		n[purpose]++
		return n[purpose] > maxPurpose
	})
}

// maxCompared is how many statements back a repetition is looked for.
const maxCompared = 60

// distinct drops statements that say what an earlier one of the list says.
func distinct(list []candidate) []candidate {
	var out []candidate
	var words []map[string]bool
	for _, c := range list {
		w := contentWords(c.Text)
		same := false
		for i := max(0, len(words)-maxCompared); i < len(words) && !same; i++ {
			same = c.Text == out[i].Text || c.Kind != memoir.StatementCommand &&
				c.Kind != memoir.StatementFile && overlap(w, words[i]) > sameWords
		}
		if !same {
			out, words = append(out, c), append(words, w)
		}
	}
	return out
}
