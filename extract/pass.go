package extract

import (
	"slices"

	"memoir"
)

// A session is read in one pass or in several: each after the first is shown what was
// written down so far, and the items that follow. A session that grew is read in the
// same way, from what an earlier extraction says.

const (
	contextShare = 8    // of the budget of a pass, the part that may go to items shown again
	contextMost  = 1000 // tokens of them at most
	knownMost    = 2    // of a budget, the part that what is known may take at most
	passMargin   = 64   // tokens that a day and a directory said again take at most, about
)

// nextPass is how many of some items the next pass reads, when each can take a number of
// tokens and there may be so many passes. They get about as much each, and end before
// what a person says where they can. When there are too few, each gets more than it can
// take, to be fitted.
func nextPass(items []memoir.Item, room, passes int) int {
	if room <= 0 || passes <= 1 {
		return len(items)
	}
	sizes := make([]int, len(items))
	all := 0
	var r renderer
	for i, it := range items {
		sizes[i] = min(memoir.Tokens(r.line(it)), room) // one that is larger is fitted
		all += sizes[i]
	}
	needed := min((all+room-1)/room, passes)
	if needed <= 1 {
		return len(items)
	}
	goal := (all + needed - 1) / needed
	most := max(room, goal)
	within, turn, sum := 1, 0, 0
	for i := 1; i < len(items); i++ { // the pass would have the items before i
		sum += sizes[i-1]
		if sum > most {
			break
		}
		if sum <= goal {
			within = i
		}
		if items[i].Origin.ByPerson() && 4*sum >= 3*goal && (turn == 0 || sum <= goal) {
			turn = i
		}
	}
	if turn > 0 {
		return turn
	}
	return within
}

// contextOf is a few of the items that were read before: what a person said, and the words of the
// agent that the next ones may answer.
func contextOf(before []memoir.Item, budget int) []memoir.Item {
	tokens := contextMost
	if budget > 0 {
		tokens = min(tokens, budget/contextShare)
	}
	last := len(before) - 1
	for last >= 0 && (before[last].Kind != memoir.ItemMessage || before[last].Origin.ByPerson()) {
		last--
	}
	var out []memoir.Item
	for i, it := range before {
		if it.Origin.ByPerson() || i == last {
			out = append(out, it)
		}
	}
	return fitShown(out, tokens).items
}

// after are the items behind a number.
func after(items []memoir.Item, n int) []memoir.Item {
	i, _ := slices.BinarySearchFunc(items, n+1, func(it memoir.Item, n int) int { return it.N - n })
	return items[i:]
}
