package main

// Verdicts of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // worth knowing
	checkFail = "fail"
)

// check is one line of `doctor` and `smoke`.
type check struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// checklist collects checks.
type checklist struct {
	checks []check
}

func (l *checklist) add(status, name, hint, detail string) {
	l.checks = append(l.checks, check{name, status, detail, hint})
}

// verify adds a check that a problem, if there is one, fails.
func (l *checklist) verify(name, good, problem string) {
	if problem != "" {
		l.add(checkFail, name, "", problem)
		return
	}
	l.add(checkOK, name, "", good)
}

// failed counts the checks that failed.
func (l *checklist) failed() int {
	n := 0
	for _, c := range l.checks {
		if c.Status == checkFail {
			n++
		}
	}
	return n
}

// clean takes secrets out of what checks say: of settings, of paths, of errors.
func (l *checklist) clean(redact func(string) string) {
	for i := range l.checks {
		c := &l.checks[i]
		c.Name, c.Detail, c.Hint = redact(c.Name), redact(c.Detail), redact(c.Hint)
	}
}

// printChecks writes a line for each check, and its hint where there is one.
func (u *ui) printChecks(checks []check) {
	for _, c := range checks {
		u.printf("%-4s  %s: %s\n", c.Status, c.Name, oneLine(c.Detail))
		if c.Hint != "" && c.Status != checkOK {
			u.printf("      %s\n", oneLine(c.Hint))
		}
	}
}
