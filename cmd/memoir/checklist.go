package main

// Results of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // worth knowing; the exit code stays 0
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

func (l *checklist) ok(name, detail string) {
	l.checks = append(l.checks, check{name, checkOK, detail, ""})
}

func (l *checklist) warn(name, hint, detail string) {
	l.checks = append(l.checks, check{name, checkWarn, detail, hint})
}

func (l *checklist) fail(name, hint, detail string) {
	l.checks = append(l.checks, check{name, checkFail, detail, hint})
}

// verify adds a check, which fails if there is a problem.
func (l *checklist) verify(name, good, problem string) {
	if problem != "" {
		l.fail(name, "", problem)
		return
	}
	l.ok(name, good)
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

// clean redacts the checks: they quote settings, paths and errors.
func (l *checklist) clean(redact func(string) string) {
	for i := range l.checks {
		c := &l.checks[i]
		c.Name, c.Detail, c.Hint = redact(c.Name), redact(c.Detail), redact(c.Hint)
	}
}

// printChecks writes a line for each check, with its hint below.
func (u *ui) printChecks(checks []check) {
	for _, c := range checks {
		u.printf("%-4s  %s: %s\n", c.Status, c.Name, oneLine(c.Detail))
		if c.Hint != "" {
			u.printf("      %s\n", oneLine(c.Hint))
		}
	}
}
