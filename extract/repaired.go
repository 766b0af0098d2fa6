package extract

import (
	"slices"
	"strings"

	"memoir"
)

// repaired is the signal of failures that one command repaired: a command fails with an error line, one command that
// changes something passes, and the same command passes. No file is edited in between, and nothing else passes but
// readings. A command that passed and left the failure is a claim, which overturns that it repaired it (later.go).
func repaired(s *session) []candidate {
	var out []candidate
	for i, r := range s.runs {
		if r.status != statusFailed || r.filter || len(r.text) > 2*maxCommand || strings.Contains(r.text, "\n") || r.looks() {
			continue
		}
		later, why := s.runsAfter(i), r.cause()
		if why == "" || len(why) > maxMessageLine {
			continue
		}
		add := func(signal string, remedy, again *run) *candidate {
			c := failure(r, why, remedy.text, remedy.item)
			c.Signal, c.Items = signal, slices.Compact([]int{r.item, remedy.item, again.item})
			out = append(out, c)
			return &out[len(out)-1]
		}
		if remedy, again := s.repair(r, later); again != nil {
			add(signalRepaired, remedy, again)
		}
		tried, again := s.vain(r, later)
		for _, l := range tried {
			c := add(memoir.SignalVain, l, again)
			c.Kind, c.Text = memoir.StatementClaim, strings.Replace(c.Text, "; fixed by", "; not fixed by", 1)
		}
	}
	return out
}

// vain returns the commands that ran before the same command failed again without an edit: in the same way, or in
// another one that a command then repaired. It stops where the same command passes. If it does not run again, they are
// those that failed themselves; the last one then stands for it.
func (s *session) vain(r *run, later []*run) (tried []*run, again *run) {
	for i, l := range later {
		switch {
		case s.editedBetween(r.item, l.item):
			return nil, nil
		case l.text != r.text || l.dir != r.dir:
			if !l.filter && !l.looks() && !sameHead(r, l) && l.mayChange() &&
				(l.status == statusPassed || l.cause() != "" && l.missing() == "") {
				tried = append(tried, l)
			}
		case l.status == statusPassed:
			return nil, nil
		case l.status == statusFailed && len(tried) > 0:
			if _, passed := s.repair(l, later[i+1:]); passed == nil && signatureOf(l.cause()) != signatureOf(r.cause()) {
				return nil, nil
			}
			return tried, l
		}
	}
	passed := func(l *run) bool {
		return slices.ContainsFunc(tried, func(o *run) bool { return o.text == l.text && o.status == statusPassed })
	}
	if tried = slices.DeleteFunc(slices.Clone(tried), passed); len(tried) == 0 {
		return nil, nil
	}
	return tried, tried[len(tried)-1]
}

// Disproves reports whether a statement says that what repaired a failure in another one did not repair the same one.
func Disproves(st, other memoir.Statement) bool {
	return st.Signal == memoir.SignalVain && st.Kind == memoir.StatementClaim && other.Signal != st.Signal &&
		st.Fix == other.Fix && st.Command == other.Command && st.Dir == other.Dir && st.Signature == other.Signature
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
	return r.status == statusPassed && r.mayChange() && !didNothing(r.call.output)
}

// mayChange is changes, whatever became of the command.
func (r *run) mayChange() bool {
	purpose, _ := r.purpose()
	return r.status != statusUnknown && r.whole() && r.target == "" &&
		!strings.Contains(r.text, "\n") && !viewers[r.program] && !strings.HasPrefix(r.text, "git add") &&
		(!Checks(purpose) || slices.Contains(r.args, "install"))
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
