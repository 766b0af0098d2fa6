package extract

import (
	"slices"
	"strings"
)

// repaired is the signal of failures that one command repaired: a command fails with an error line, one command that
// changes something passes, and the same command passes. No file is edited in between, and nothing else passes but
// readings.
func repaired(s *session) []candidate {
	var out []candidate
	for i, r := range s.runs {
		if r.status != statusFailed || r.filter || len(r.text) > 2*maxCommand || strings.Contains(r.text, "\n") || r.looks() {
			continue
		}
		remedy, again := s.repair(r, s.runsAfter(i))
		if again == nil {
			continue
		}
		if why := r.cause(); why != "" && len(why) <= maxMessageLine {
			c := failure(r, why, remedy.text, remedy.item)
			c.Signal, c.Items = signalRepaired, slices.Compact([]int{r.item, remedy.item, again.item})
			out = append(out, c)
		}
	}
	return out
}

// repair returns the one command that changed something before the same command passed; nil if there is none, or more.
// Git repairs only its own commands: what it does to other ones is what an edit does.
func (s *session) repair(r *run, later []*run) (remedy, again *run) {
	for _, l := range later {
		switch {
		case l.filter || l.looks() || l.status == statusFailed && !sameHead(r, l):
		case l.text == r.text && l.dir == r.dir && l.status == statusPassed && remedy != nil &&
			!s.editedBetween(r.item, l.item):
			return remedy, l
		case remedy != nil || sameHead(r, l) || !l.changes() || l.program == "git" && r.program != "git":
			return nil, nil
		default:
			remedy = l
		}
	}
	return nil, nil
}

// changes reports whether a command passed and changed something that is not a file of the project.
func (r *run) changes() bool {
	purpose, _ := r.purpose()
	return r.status == statusPassed && !r.dynamic && len(r.text) <= maxCommand && r.target == "" &&
		!strings.Contains(r.text, "\n") && !viewers[r.program] && !strings.HasPrefix(r.text, "git add") &&
		(!Checks(purpose) || slices.Contains(r.args, "install")) && !didNothing(r.call.output)
}

// looks reports whether a command only reads.
func (r *run) looks() bool {
	return r.target == "" && (lookers[r.program] || r.program == "ps") ||
		r.program == "git" && len(r.args) > 0 && gitLooks[r.args[0]] ||
		asksAbout(r.args)
}

func (s *session) editedBetween(from, to int) bool {
	return slices.ContainsFunc(s.edits, func(item int) bool { return item > from && item < to })
}

// didNothing reports whether an output says that a command had nothing to do.
func didNothing(output string) bool {
	return slices.ContainsFunc([]string{"nothing to", "no changes", "up to date", "up-to-date", "no tests", "0 tests"},
		func(p string) bool { return strings.Contains(strings.ToLower(output[:min(len(output), window)]), p) })
}
