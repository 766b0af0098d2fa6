package extract

import (
	"path"
	"slices"
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
	for i := 0; i < len(s.turns); {
		request, item := requestOf(s.turns[i]), s.turns[i].ask.item
		runs := s.turns[i].runs
		for i++; i < len(s.turns) && continues(s.turns[i]); i++ {
			runs = append(runs[:len(runs):len(runs)], s.turns[i].runs...)
		}
		if request == "" {
			continue
		}
		if steps, items := s.stepsOf(runs); len(steps) >= minSteps && len(steps) <= maxSteps {
			text := quote(shorten(request, 80)) + ": " + strings.Join(steps, " → ")
			out = append(out, state(memoir.StatementProcedure, text, append([]int{item}, ends(items)...)...))
		}
	}
	return out
}

// continues reports whether a turn goes on with the work of the one before: after an
// assent, a refusal or what a person threw in while the agent was busy.
func continues(t *turn) bool {
	return t.ask.origin == memoir.OriginQueued || requestOf(t) == ""
}

// stepsOf are the commands of a procedure in the order of their last runs, and their
// items; nothing if the last one is a check, or all are of version control.
func (s *session) stepsOf(runs []*run) (steps []string, items []int) {
	last, own := false, 0
	for _, r := range runs {
		step, act := s.step(r)
		if step == "" {
			continue
		}
		last = act
		if i := indexOf(steps, code(step)); i >= 0 {
			steps, items = slices.Delete(steps, i, i+1), slices.Delete(items, i, i+1)
		} else if !strings.HasPrefix(step, "git ") && !strings.HasPrefix(step, "gh ") {
			own++
		}
		steps, items = append(steps, code(step)), append(items, r.item)
	}
	if !last || own == 0 {
		return nil, nil
	}
	return steps, items
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
