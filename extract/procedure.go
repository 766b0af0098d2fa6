package extract

import (
	"path"
	"strings"

	"memoir"
)

const (
	minSteps = 3  // distinct steps of a procedure
	maxSteps = 10 // steps of one; more are no procedure but a day's work
)

// procedures is the signal of what was done in order until it ended in something that
// is more than a check: a push, a pull request, a release, a program that ran. Phase 2
// keeps those that recur.
func procedures(s *session) []candidate {
	var out []candidate
	for _, t := range s.turns {
		request := requestOf(t)
		if request == "" {
			continue
		}
		var steps []string
		var items []int
		last, acts, own := "", 0, 0
		for _, r := range t.runs {
			step, act := s.step(r)
			if step == "" {
				continue
			}
			if act {
				last = step
			}
			if !strings.HasPrefix(step, "git ") && !strings.HasPrefix(step, "gh ") {
				own++
			}
			if i := indexOf(steps, code(step)); i >= 0 { // only the last time counts
				steps, items = append(steps[:i], steps[i+1:]...), append(items[:i], items[i+1:]...)
			} else if act {
				acts++
			}
			steps, items = append(steps, code(step)), append(items, r.item)
		}
		if last == "" || steps[len(steps)-1] != code(last) || acts == 0 || own == 0 || len(steps) < minSteps || len(steps) > maxSteps {
			continue
		}
		text := quote(shorten(request, 80)) + ": " + strings.Join(steps, " → ")
		out = append(out, state(memoir.StatementProcedure, text, ends(items)...))
	}
	return out
}

// step is a command as a step of a procedure, without what differs each time, and
// whether it does more than check.
func (s *session) step(r *run) (text string, acts bool) {
	if r.status != statusPassed {
		return "", false
	}
	words := r.words()
	second := ""
	if len(words) > 1 {
		second = words[1]
	}
	switch path.Base(r.program) {
	case "git":
		switch second {
		case "commit", "push", "tag":
			return "git " + second, true
		case "switch", "checkout":
			if _, ok := r.option("-c", "-b"); ok {
				return "git " + second, false
			}
		}
		return "", false
	case "gh", "glab":
		if len(words) > 2 && (words[2] == "create" || words[2] == "merge" || words[2] == "edit") {
			return r.program + " " + second + " " + words[2], true
		}
		return "", false
	}
	purpose, _ := s.repeatable(r)
	if purpose == "" {
		return "", false
	}
	return r.text, purpose == forRelease || purpose == forRun || purpose == forGenerate || purpose == forSetup
}
