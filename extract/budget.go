package extract

import (
	"cmp"
	"slices"

	"memoir"
)

// room is how many statements of a kind a raw memory holds at most.
var room = map[memoir.StatementKind]int{
	memoir.StatementTask:        maxTasks,
	memoir.StatementOutcome:     24,
	memoir.StatementPreference:  16,
	memoir.StatementFailure:     10,
	memoir.StatementCommand:     18,
	memoir.StatementDecision:    40,
	memoir.StatementFile:        maxFiles,
	memoir.StatementEnvironment: 5,
	memoir.StatementProcedure:   4,
}

// share is the part of the budget that statements of a kind may take, lest a long
// session's changes leave no room for what it taught.
var share = map[memoir.StatementKind]float64{memoir.StatementOutcome: 0.4, memoir.StatementTask: 0.35}

// findingsShare is how much of a raw memory, in percent, findings take before all
// else has found room.
const findingsShare = 33

// worthMore is what an outcome or a finding is worth at least that takes of the last
// third: a long session's raw memory has room for what matters, not for all that was said.
const worthMore = 2.5

// longer is how many bytes more of text cost a statement one of its weight.
const longer = 600

// fit keeps the heaviest statements whose raw memory stays within a number of
// tokens, in their order.
func fit(all []found, tokens int) []memoir.Statement {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	worth := func(i int) float64 { return all[i].weight - float64(len(all[i].Text))/longer }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth(b), worth(a)) })
	const heading = 20 // bytes, at most, of a section's heading
	left := tokens*4 - heading*len(memoir.StatementKinds)
	findings := left * findingsShare / 100
	used, taken := map[memoir.StatementKind]int{}, map[memoir.StatementKind]int{}
	keep := make([]bool, len(all))
	take := func(i int) {
		f := all[i]
		if wordy := f.Kind == memoir.StatementOutcome || f.Kind == memoir.StatementDecision; wordy && left < tokens*4/3 && worth(i) < worthMore {
			return
		}
		size := len(memoir.FormatStatements([]memoir.Statement{f.Statement})) - len("## "+string(f.Kind)+"\n")
		if keep[i] || used[f.Kind] == room[f.Kind] || size > left || f.Kind == memoir.StatementDecision && size > findings {
			return
		}
		if part := share[f.Kind]; part > 0 && used[f.Kind] > 0 && float64(taken[f.Kind]+size) > part*float64(tokens*4) {
			return
		}
		used[f.Kind]++
		taken[f.Kind] += size
		left -= size
		keep[i] = true
		if f.Kind == memoir.StatementDecision {
			findings -= size
		}
	}
	for _, i := range order {
		take(i)
	}
	findings = left // what the others leave
	for _, i := range order {
		take(i)
	}
	var out []memoir.Statement
	for i, f := range all {
		if keep[i] {
			out = append(out, f.Statement)
		}
	}
	return out
}
