package extract

import (
	"slices"
	"strings"
)

// maxPutBack is how many turns behind an answer are looked at for what undid it.
const maxPutBack = 30

// reversals ask for another state of a thing than the one that was just made.
var reversals = newPhrases(`back to|put back|bring back|put it back|switch back|set it back|change it back|go back|revert|reverted|undo|restore|reinstate|after all|instead|anyway|should stay|must stay|stays|needs to stay|again|still needed|still need|
	wieder|zurück|doch|rückgängig|bleibt|de nouveau|remets|remettre|reviens|revenir|rétablis|finalement|vuelve|volver|de vuelta|otra vez|revierte|déjalo|volta|de volta|reverte|torna|ripristina|terug|weer|обратно|верни|снова|z powrotem|przywróć`)

var cjkReversals = []string{"改回", "恢复", "还原", "撤销", "戻して", "戻す", "元に", "되돌", "원래대로"}

// putBack reports whether a person later asked for another state of what a text of the
// turn at i says, by the name of it, and the agent changed something then.
func (r *reading) putBack(i int, text string) bool {
	named := map[string]bool{}
	for k, span := range strings.Split(text, "`") {
		if k%2 == 1 {
			for w := range subwords(span, false) {
				if len(w) > 4 {
					named[w] = true
				}
			}
		}
	}
	if len(named) == 0 {
		return false
	}
	for _, t := range r.turns[i+1 : min(len(r.turns), i+1+maxPutBack)] {
		if t.ask == nil || !t.acted() || t.said.document {
			continue
		}
		for _, s := range t.said.own {
			if !has(words(s), reversals) && !holdsAny(s, cjkReversals) {
				continue
			}
			for w := range subwords(s, false) {
				if named[w] {
					return true
				}
			}
		}
	}
	return false
}

// latestState keeps of several lines that say of one thing what it is or does now the last.
func latestState(list []found) []found {
	all := slices.Clone(list)
	last := map[string]int{}
	for k, f := range list {
		if subject := stateOf(f.Text); subject != "" {
			last[subject] = k
		}
	}
	k := -1
	return slices.DeleteFunc(list, func(f found) bool {
		k++
		subject := stateOf(f.Text)
		return subject != "" && last[subject] != k && all[last[subject]].Items[0] != f.Items[0]
	})
}

// stateOf is what a line says the new state of: what stands before "now", or behind it
// at the line's beginning; empty if it names nothing.
func stateOf(text string) string {
	low := strings.ToLower(text)
	subject := ""
	if rest, ok := strings.CutPrefix(low, "now: "); ok {
		subject, _, _ = strings.Cut(rest, " is ")
	} else if head, _, ok := strings.Cut(low, " now "); ok && len(head) < 80 {
		subject = strings.TrimSuffix(strings.TrimSuffix(head, " is"), " are")
	}
	if anchors(subject) == 0 && !strings.Contains(subject, "`") {
		return ""
	}
	return subject
}
