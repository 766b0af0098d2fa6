package extract

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"memoir"
)

// habits finds what a person asked for again and again: a manner of working, or the
// same piece of work.
func habits(r *reading) []found {
	return append(repeatedManners(r), repeatedAsks(r)...)
}

// repeatedAsks finds a request that a person made twice or more in nearly the same
// words, and with which commands the agent ended its work each time.
func repeatedAsks(r *reading) []found {
	type group struct {
		key   map[string]bool
		turns []*turn
	}
	var groups []*group
	for _, t := range r.turns {
		if t.ask == nil || t.said.trivial || t.said.denies || t.said.pasted || len(t.said.own) == 0 || len(t.said.own) > 2 || !commands(words(t.said.own[0])) {
			continue
		}
		key := askKey(strings.Join(t.said.own, " "))
		if len(key) < 2 || len(key) > 12 {
			continue
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return alike(g.key, key) })
		if at < 0 {
			if len(groups) < maxAlike {
				groups = append(groups, &group{key, []*turn{t}})
			}
			continue
		}
		groups[at].turns = append(groups[at].turns, t)
	}
	var out []found
	for _, g := range groups {
		if len(g.turns) < 2 {
			continue
		}
		last := g.turns[len(g.turns)-1]
		text := fmt.Sprintf("asked for %d times: %s", len(g.turns), quote(shorten(tidy(strings.Join(last.said.own, " ")), 160)))
		var items []int
		for _, t := range g.turns {
			items = append(items, t.said.item)
		}
		if steps := usual(g.turns); len(steps) > 0 {
			text += " — each time the agent ran `" + strings.Join(steps, "`, `") + "`"
		}
		out = append(out, found{memoir.Statement{Kind: memoir.StatementPreference, Text: text, Items: items}, 4 + float64(len(g.turns))})
	}
	return out
}

// askKey are the words of a request without links, numbers and small words.
func askKey(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words(labels(tidy(text)))) {
		if len(w) < 2 || strings.ContainsAny(w, "/#:.0123456789") || smallWords()[w] {
			continue
		}
		out[w] = true
	}
	return out
}

var smallWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("http https a an the and or but of to in on at for with by from as is are it its this that these those please now again also then ok okay just can could you we me my our all any new latest more once") {
		m[w] = true
	}
	return m
})

func alike(a, b map[string]bool) bool {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	return both >= 2 && both*5 >= 4*(len(a)+len(b)-both)
}

// usual are the commands that succeeded in all of some turns, in their order.
func usual(turns []*turn) []string {
	var out []string
	families := make([]map[string]bool, len(turns)) // that succeeded in each
	for i, t := range turns {
		families[i] = map[string]bool{}
		for _, o := range t.runs {
			for _, d := range o.cmds {
				families[i][d.family] = families[i][d.family] || !o.failed
			}
		}
	}
	for _, last := range turns[len(turns)-1].runs {
		for _, c := range last.cmds {
			if last.failed || c.use == "" || c.family == "" || c.place != "" || slices.Contains(out, c.family) || len(out) == 5 {
				continue
			}
			if !slices.ContainsFunc(families, func(f map[string]bool) bool { return !f[c.family] }) {
				out = append(out, c.family)
			}
		}
	}
	return out
}

func repeatedManners(r *reading) []found {
	type manner struct{ verb, tail string }
	asked := map[manner][]int{}
	var order []manner
	for _, t := range r.turns {
		seen := map[manner]bool{}
		for _, s := range t.said.own {
			norm := words(s)
			for _, tail := range manners.all() {
				i := strings.Index(norm, tail)
				if i < 0 {
					continue
				}
				verb := ""
				for w := range strings.FieldsSeq(norm[:i]) {
					if imperatives()[w] {
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

var manners = newPhrases("in full|step by step|one by one|in parallel|in detail|from scratch|at once|as a table|one at a time|in small commits|without comments")
