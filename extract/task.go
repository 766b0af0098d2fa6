package extract

import (
	"slices"
	"strings"

	"memoir"
)

// maxTasks bounds the asks that are listed of one session.
const maxTasks = 8

// tasks lists what a person asked for, in order, closely quoted. Assents and
// greetings are none; an ask repeated in the same words is listed once.
func tasks(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		if t.ask == nil || t.said.trivial {
			continue
		}
		text := askText(t.said, r)
		if text == "" {
			continue
		}
		weight := substance(t.said)
		if i == 0 || len(out) == 0 {
			weight += 3
		}
		out = appendFound(out, found{memoir.Statement{Kind: memoir.StatementTask, Text: text, Items: []int{t.said.item}}, weight})
	}
	if len(out) > maxTasks {
		ranked := slices.Clone(out)
		slices.SortStableFunc(ranked, heavier)
		least := ranked[maxTasks-1].weight
		kept := out[:0:0]
		for _, f := range out {
			if f.weight >= least && len(kept) < maxTasks {
				kept = append(kept, f)
			}
		}
		out = kept
	}
	return out
}

// askText is an ask as one line.
func askText(a ask, r *reading) string {
	if len(a.own) == 0 {
		if a.quoted == "" {
			return ""
		}
		return "pasted: " + quote(local(a.quoted, r.root))
	}
	text := a.own[0]
	for _, s := range a.own[1:] {
		if len(text)+len(s) > 240 {
			break
		}
		text += " " + s
	}
	if a.quoted != "" && (strings.HasSuffix(text, ":") || len(text) < 60) {
		text += " " + quote(a.quoted)
	}
	text = local(tidy(text), r.root)
	return strings.TrimLeft(shorten(text, 240), "#>-*+ ")
}

// substance weighs how much an ask says about the work.
func substance(a ask) float64 {
	norm := words(strings.Join(a.own, " "))
	n := strings.Count(norm, " ")
	weight := 1 + min(float64(n)/12, 2)
	if len(a.own) > 0 && (commands(words(a.own[0])) || begins(words(a.own[0]), politeAsks)) {
		weight++
	}
	if anchors(strings.Join(a.own, " ")) > 0 || strings.Contains(norm, "github.com") || strings.Contains(norm, "http") {
		weight += 0.5
	}
	if a.denies || a.confirms {
		weight -= 0.7
	}
	if n < 4 {
		weight -= 0.8
	}
	if len(a.own) == 0 {
		weight -= 0.5
	}
	return weight
}

// heavier orders statements by weight, the heaviest first.
func heavier(a, b found) int {
	switch {
	case a.weight > b.weight:
		return -1
	case a.weight < b.weight:
		return 1
	}
	return 0
}
