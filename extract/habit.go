package extract

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
)

// habits finds a manner of working that a person asked for again and again.
func habits(r *reading) []found {
	type manner struct{ verb, tail string }
	asked := map[manner][]int{}
	var order []manner
	for _, t := range r.turns {
		seen := map[manner]bool{}
		for _, s := range t.said.own {
			norm := words(s)
			for _, tail := range manners {
				i := strings.Index(norm, tail)
				if i < 0 {
					continue
				}
				verb := ""
				for w := range strings.FieldsSeq(norm[:i]) {
					if imperatives[w] {
						verb = w
					}
				}
				m := manner{verb, strings.TrimSpace(tail)}
				if verb == "" || seen[m] {
					continue
				}
				seen[m] = true
				if len(asked[m]) == 0 {
					order = append(order, m)
				}
				asked[m] = append(asked[m], t.said.item)
			}
		}
	}
	var out []found
	for _, m := range order {
		if items := asked[m]; len(items) >= 3 {
			text := fmt.Sprintf("asks again and again: “%s … %s” (%d times)", m.verb, m.tail, len(items))
			out = append(out, found{memoir.Statement{Kind: memoir.StatementPreference, Text: text, Items: slices.Compact(items)}, 8})
		}
	}
	return out
}

var manners = phrases("in full|step by step|one by one|in parallel|in detail|from scratch|at once|as a table|one at a time|in small commits|without comments")
