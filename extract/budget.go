package extract

import (
	"slices"

	"memoir"
)

// room is how many statements of a kind a raw memory holds at most.
var room = map[memoir.StatementKind]int{
	memoir.StatementTask:        maxTasks,
	memoir.StatementOutcome:     10,
	memoir.StatementPreference:  16,
	memoir.StatementFailure:     10,
	memoir.StatementCommand:     18,
	memoir.StatementDecision:    18,
	memoir.StatementFile:        maxFiles,
	memoir.StatementEnvironment: 5,
	memoir.StatementProcedure:   4,
}

// fit keeps the heaviest statements whose raw memory stays within a number of
// tokens, in their order.
func fit(all []found, tokens int) []memoir.Statement {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return heavier(all[a], all[b]) })
	const heading = 20 // bytes, at most, of a section's heading
	left := tokens*4 - heading*len(memoir.StatementKinds)
	used := map[memoir.StatementKind]int{}
	keep := make([]bool, len(all))
	for _, i := range order {
		f := all[i]
		size := len(memoir.FormatStatements([]memoir.Statement{f.Statement})) - len("## "+string(f.Kind)+"\n")
		if used[f.Kind] == room[f.Kind] || size > left {
			continue
		}
		used[f.Kind]++
		left -= size
		keep[i] = true
	}
	var out []memoir.Statement
	for i, f := range all {
		if keep[i] {
			out = append(out, f.Statement)
		}
	}
	return out
}
