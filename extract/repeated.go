package extract

import (
	"slices"
	"strings"

	"memoir"
)

// minRepeated is how many words of meaning a statement has at least that is
// compared with the others: two short ones share theirs by chance.
const minRepeated = 4

// unrepeated drops what the agent found where another statement of the session says
// it: a failure its cause, the outcome what is so now, a file what was put into it.
// What a person said stays, whoever repeats it.
func (r *reading) unrepeated(known, others []found) []found {
	type other struct {
		found
		norm string
	}
	var all []other
	added := map[string]bool{}
	for _, f := range others {
		switch f.Kind {
		case memoir.StatementPreference, memoir.StatementFailure, memoir.StatementOutcome:
			all = append(all, other{f, r.lexicon.normal(f.Text)})
		case memoir.StatementFile:
			_, names, _ := strings.Cut(f.Text, "(adds ")
			for i, span := range strings.Split(names, "`") {
				if i%2 == 1 {
					added[span] = true
				}
			}
		}
	}
	return slices.DeleteFunc(known, func(f found) bool {
		if strings.HasPrefix(f.Text, "the user") {
			return false
		}
		text, _, past := strings.Cut(f.Text, sinceChanged)
		text = strings.TrimSuffix(text, inPassing)
		if !past && mendedOnTheWay(others, f) {
			return true
		}
		if name, _, ok := strings.Cut(strings.TrimPrefix(text, "`"), "` - "); ok && strings.HasPrefix(text, "`") && added[strings.TrimSuffix(name, "()")] {
			return true // an entry of a list of what was added
		}
		mine := r.lexicon.of(text)
		if len(mine.content) < minRepeated {
			return false
		}
		marks, _ := senses(text, words(text))
		change := begins(words(text), achieved) || marks == (sense{}) && !has(words(text), lasting) && !strings.Contains(text, ": ")
		norm := strings.TrimRight(r.lexicon.normal(text), " .,;:!")
		return slices.ContainsFunc(all, func(o other) bool {
			if o.Kind == memoir.StatementOutcome && (!change || past) {
				return false // what is so, not what was done: a project's memory takes it from here
			}
			if strings.Contains(o.norm, norm) {
				return true
			}
			theirs := r.lexicon.of(o.Text)
			same := o.Items[0] == f.Items[0]
			return held(mine.content, theirs.content) >= len(mine.content)*4/5 && (same || subset(mine.marked(), theirs.marked()))
		})
	})
}

// subset reports whether a set has members, all of which another has.
func subset(a, b map[string]bool) bool {
	return len(a) > 0 && held(a, b) == len(a)
}

// onTheWay are words on the state in which a failure left things until it was mended.
var onTheWay = newPhrases("failed|failing|was not found|were not found|not found|not installed|is installing|are missing|is missing|missing|half-present|half-installed|not checked out|did not recover|didn't recover|refused|stuck")

// mendedOnTheWay reports whether the agent said something on its way out of a failure that is
// told: between what failed and what passed.
func mendedOnTheWay(others []found, f found) bool {
	return has(words(f.Text), onTheWay) && slices.ContainsFunc(others, func(o found) bool {
		return o.Kind == memoir.StatementFailure && len(o.Items) > 1 && slices.Min(o.Items) < f.Items[0] && f.Items[0] < slices.Max(o.Items)
	})
}

// withoutAnnounced drops from what was done the lines whose matter a pull request of the
// session tells: what the agent said there last is said best.
func (r *reading) withoutAnnounced(ended []found) []found {
	var posted []*wording
	for _, f := range ended {
		if strings.HasPrefix(f.Text, "PR #") || strings.Contains(f.Text, " — PR #") {
			posted = append(posted, r.lexicon.of(f.Text))
		}
	}
	if len(posted) == 0 {
		return ended
	}
	first := true
	return slices.DeleteFunc(ended, func(f found) bool {
		if first {
			first = false
			return false
		}
		if strings.HasPrefix(f.Text, "PR #") || strings.HasPrefix(f.Text, openEnd) || strings.HasPrefix(f.Text, "Not committed") {
			return false
		}
		mine := r.lexicon.of(f.Text)
		return len(mine.content) >= minRepeated && slices.ContainsFunc(posted, func(o *wording) bool {
			return held(mine.content, o.content) >= len(mine.content)*3/5 && (len(mine.marked()) == 0 || subset(mine.marked(), o.marked()))
		})
	})
}
