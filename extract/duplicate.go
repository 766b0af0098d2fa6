package extract

import (
	"slices"
	"strings"

	"memoir"
)

// saidOnce drops what one message of a person gave twice: a preference says it before a
// decision, a decision before a task. The first task stays, for it names the session;
// then the decision goes that adds nothing to it.
func saidOnce(all []found) []found {
	said := map[int][]int{} // item -> places of the lines that quote a person there
	for i, f := range all {
		if f.Kind == memoir.StatementPreference || f.Kind == memoir.StatementDecision {
			if quotation(f) != "" {
				said[f.Items[0]] = append(said[f.Items[0]], i)
			}
		}
	}
	drop := make([]bool, len(all))
	first := true
	for i, f := range all {
		var mine string
		switch f.Kind {
		case memoir.StatementTask:
			mine = words(strings.TrimSuffix(f.Text, mendedLater))
		case memoir.StatementDecision:
			mine = words(quotation(f))
		}
		if strings.TrimSpace(mine) == "" {
			continue
		}
		for _, k := range said[f.Items[0]] {
			if k == i || drop[k] {
				continue
			}
			other, theirs := all[k], words(quotation(all[k]))
			switch {
			case f.Kind == memoir.StatementTask && first:
				if other.Kind == memoir.StatementDecision && theirs == mine && !strings.Contains(other.Text, " — ") {
					drop[k] = true
				}
			case f.Kind == memoir.StatementTask: // what is to be done is looked for among the tasks
				drop[i] = drop[i] || strings.Contains(theirs, mine) && (other.Kind == memoir.StatementPreference || !slices.ContainsFunc(sentences(f.Text), orders))
			case other.Kind == memoir.StatementPreference:
				drop[i] = drop[i] || strings.Contains(theirs, mine)
			case mine == theirs && len(f.Text) < len(other.Text), mine == theirs && f.Text == other.Text && i > k:
				drop[i] = true
			}
		}
		first = first && f.Kind != memoir.StatementTask
	}
	i := -1
	return slices.DeleteFunc(all, func(found) bool {
		i++
		return drop[i]
	})
}

// orders reports whether a sentence tells the agent to do something.
func orders(s string) bool {
	norm := words(s)
	return commands(norm) && (!question(s) || begins(norm, politeAsks))
}

// quotation is what a line quotes of a person, empty if it does not begin with their words.
func quotation(f found) string {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(f.Text, "the user: "), "“")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "”")
	return text
}

// lacks are words for what is not there or does nothing.
var lacks = newPhrases("only have|only has|never used|not used|is unused|are unused|doesn't work|does not work|don't work|doesn't implement|not included|not updated|not implemented|isn't used|aren't used")

// withoutMended drops what a person said is missing, in their words or in the agent's that
// granted it, if that was mended before they spoke of something else.
func (r *reading) withoutMended(all []found) []found {
	var turns map[int]int
	return slices.DeleteFunc(all, func(f found) bool {
		if f.Kind != memoir.StatementDecision {
			return false
		}
		said := quotation(f)
		norm := words(said)
		if said == "" || !has(norm, lacks) || has(norm, phrases("must|should|may only|never use|always|needs to|has to|instead")) {
			return false
		}
		if _, granted, ok := strings.Cut(f.Text, "” — "); ok && !has(words(granted), lacks) {
			return false
		}
		if turns == nil {
			turns = map[int]int{}
			for i, t := range r.turns {
				if t.ask != nil {
					turns[t.said.item] = i
				}
			}
		}
		i, ok := turns[f.Items[0]]
		return ok && mendedBy(r.turns[i:])
	})
}
