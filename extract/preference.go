package extract

import (
	"slices"
	"strings"

	"memoir"
)

// A found is a statement with the weight that decides who stays within the budget.
type found struct {
	memoir.Statement
	weight float64
}

// preferences finds what a person wants always or never: standing instructions,
// corrections, rules of the project. A request for now is a task, not a
// preference; the two differ in form (see standing), and what they pasted is
// never theirs.
func preferences(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		if t.ask == nil || t.said.document && len(t.said.own) > 6 {
			continue
		}
		for j := range t.said.own {
			text, weight := ruleAt(t.said, j)
			if weight == 0 {
				continue
			}
			text = quote(shorten(text, 240)) + background(r, i, text)
			if other := elsewhere(t.away()); other != "" {
				text += other
				weight--
			}
			out = r.appendFound(out, found{memoir.Statement{Kind: memoir.StatementPreference, Text: text, Items: []int{t.said.item}}, 6 + weight})
		}
	}
	settled := steerings(r)
	out = append(out, settled...)
	for i, t := range r.turns {
		if t.ask != nil && !slices.ContainsFunc(settled, func(f found) bool { return f.Items[0] == t.said.item }) {
			out = append(out, stated(r, i)...)
		}
	}
	out = append(out, specifications(r)...)
	out = append(out, subjects(r)...)
	return append(out, habits(r)...)
}

// ruleAt reads the sentence of a person at j as a lasting rule, with the neighbours
// that it cannot be understood without, and weighs it; 0 means that it is none.
func ruleAt(a ask, j int) (string, float64) {
	s := a.own[j]
	n := len(strings.Fields(s))
	before, after := "", ""
	if j > 0 {
		before = a.own[j-1]
	}
	if j+1 < len(a.own) {
		after = a.own[j+1]
	}
	weight := standing(s, a)
	switch {
	case weight == 0 && reproach(s) && explains(after):
		return s + " " + after, 3
	case weight == 0:
		clause := buried(s)
		if clause == "" {
			return "", 0
		}
		return clause, 2.5
	case strings.HasPrefix(words(s), " if ") && strings.HasSuffix(before, "?") && len(before)+n < 160:
		return before + " " + s, weight
	case n < 5 && before != "" && len(before)+len(s) < 160 && !strings.HasSuffix(before, "?"):
		return before + " " + s, weight
	case n < 4 && after != "" && !strings.HasSuffix(after, "?"):
		return s + " " + after, weight
	}
	return s, weight
}

// background quotes what the agent had said where a person's words correct it or
// point at it.
func background(r *reading, i int, text string) string {
	t := r.turns[i]
	if i == 0 || !t.said.denies && !(len(contentWords(text)) < 4 && pointing(text)) {
		return ""
	}
	before := answered(r.turns[i-1], text)
	if before == "" && t.said.denies {
		before = lastSaid(r.turns[i-1])
	}
	return topic(before, text, 140)
}

// maxAlike is how many statements back a repetition is looked for: far more than a
// raw memory holds, and few enough for a session of a hundred thousand turns.
const maxAlike = 60

// maxCited is how many items a statement that was made again and again cites.
const maxCited = 8

// appendFound adds a statement unless its words are there already; then its
// items and weight join those of the other.
func (r *reading) appendFound(list []found, f found) []found {
	key := r.lexicon.normal(f.Text)
	for i := max(0, len(list)-maxAlike); i < len(list); i++ {
		if list[i].Kind == f.Kind && r.lexicon.normal(list[i].Text) == key {
			list[i].Items = firstAndLast(mergeItems(list[i].Items, f.Items), maxCited)
			list[i].weight += 0.5
			return list
		}
	}
	return withoutLightest(append(list, f))
}

func mergeItems(a, b []int) []int {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// lastSaid is the first sentence of what the agent said at the end of a turn.
func lastSaid(t *turn) string {
	if len(t.says) == 0 {
		return ""
	}
	for _, b := range blocks(t.says[len(t.says)-1].text, false) {
		for _, s := range sentences(tidy(b.text)) {
			if len(strings.Fields(s)) >= 3 {
				return s
			}
		}
	}
	return ""
}
