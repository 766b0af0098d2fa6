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
		if strings.HasPrefix(f.Text, "the user") || strings.Contains(f.Text, sinceChanged) {
			return false
		}
		text := strings.TrimSuffix(f.Text, inPassing)
		if name, _, ok := strings.Cut(strings.TrimPrefix(text, "`"), "` - "); ok && strings.HasPrefix(text, "`") && added[strings.TrimSuffix(name, "()")] {
			return true // an entry of a list of what was added
		}
		mine := r.lexicon.of(text)
		if len(mine.content) < minRepeated {
			return false
		}
		change := begins(words(text), achieved)
		norm := strings.TrimRight(r.lexicon.normal(text), " .,;:!")
		return slices.ContainsFunc(all, func(o other) bool {
			if o.Kind == memoir.StatementOutcome && !change {
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
