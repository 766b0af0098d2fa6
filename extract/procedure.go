package extract

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
)

const (
	minSteps = 3  // distinct steps from which a turn is a procedure
	maxSteps = 12 // steps kept of one
)

// procedures lists, for every ask, the ordered commands that it took, as far as
// they succeeded: consolidation looks for those that recur. What a person throws
// in while the work goes on (a queued prompt, a refusal, an assent) does not cut
// it in two.
func procedures(r *reading) []found {
	var out []found
	times := map[string]int{} // of the same steps
	at := map[string]int{}
	for i := 0; i < len(r.turns); {
		t := r.turns[i]
		runs := slices.Clone(t.runs)
		for i++; i < len(r.turns) && continues(r.turns[i]); i++ {
			runs = append(runs, r.turns[i].runs...)
		}
		if t.ask == nil || t.said.trivial {
			continue
		}
		var steps []string
		var items []int
		working := false
		seen := map[string]bool{}
		for _, run := range slices.Backward(runs) {
			for _, c := range slices.Backward(run.cmds) {
				if !run.succeeded(c) || c.place != "" {
					continue
				}
				working = working || c.use != forVCS
				// Only the last time counts: what was tried before it led nowhere.
				if !seen[c.text] && len(steps) < maxSteps {
					seen[c.text] = true
					steps, items = append(steps, c.text), append(items, run.item)
				}
			}
		}
		if len(steps) < minSteps || !working {
			continue
		}
		slices.Reverse(steps)
		slices.Reverse(items)
		for i, s := range steps {
			steps[i] = code(s)
		}
		chain := strings.Join(steps, " → ")
		if times[chain]++; times[chain] > 1 {
			k := at[chain]
			out[k].Items = mergeItems(out[k].Items, firstAndLast(items, 2))
			out[k].weight += 0.5
			continue
		}
		at[chain] = len(out)
		label := shorten(strings.ReplaceAll(shortLinks(labelOf(t.said, r)), "`", ""), maxLabel)
		out = append(out, found{memoir.Statement{
			Kind: memoir.StatementProcedure, Text: quote(label) + ": " + chain, Items: firstAndLast(items, 4),
		}, 1.5 + 0.1*float64(len(steps))})
	}
	for chain, n := range times {
		if n > 1 {
			out[at[chain]].Text += fmt.Sprintf(" (%d times)", n)
		}
	}
	slices.SortStableFunc(out, heavier)
	return out[:min(len(out), 4)]
}

// maxLabel bounds, in bytes, what a procedure is called.
const maxLabel = 48

// labelOf is the clause of an ask that names its work: the first that bids something.
func labelOf(a ask, r *reading) string {
	text := withoutOpening(askText(a, r, true))
	for _, s := range sentences(text) {
		if !request(s) {
			continue
		}
		for _, c := range append(clauses(s), s) {
			if commands(words(c)) && len(strings.Fields(c)) > 2 {
				return withoutOpening(c)
			}
		}
		return withoutOpening(s)
	}
	return text
}

// continues reports whether a turn goes on with the work of the one before.
func continues(t *turn) bool {
	if t.ask == nil {
		return true
	}
	if rules(t.said) {
		return true
	}
	return t.ask.Origin == memoir.OriginQueued || t.ask.Origin == memoir.OriginRejection || t.ask.Origin == memoir.OriginAnswer || t.said.trivial || t.said.denies
}
