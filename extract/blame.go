package extract

import (
	"path"
	"slices"
	"strings"
)

// A guilt is the part of a command line that made it fail.
type guilt struct {
	part int // index in the parts of the run
	sure bool
}

// culprit finds the part of a failed line that failed, as far as its output names it:
// by the task that a runner says failed, by the program that opens the line which
// says why, or as the test of a line that names a test. A part that stands alone
// needs no name.
func (r *run) culprit() guilt {
	if r.guilt == nil {
		g := guilt{}
		switch {
		case len(r.parts) == 1:
			g.sure = true
		case len(r.parts) > 1:
			g = r.accused()
		}
		r.guilt = &g
	}
	return *r.guilt
}

func (r *run) accused() guilt {
	if task := failedTask(r.output); task != "" {
		if at := r.only(func(s simple) bool {
			return slices.ContainsFunc(s.words[1:], func(w string) bool { return unquote(w) == task })
		}); at >= 0 {
			return guilt{at, true}
		}
	}
	line := r.why()
	name := missingProgram(r.output)
	if opening, _, ok := strings.Cut(line, ":"); ok && name == "" && !strings.ContainsAny(opening, " \t") {
		name = path.Base(opening)
	}
	if name != "" {
		if at := r.only(func(s simple) bool { return path.Base(unquote(s.words[0])) == name }); at >= 0 {
			return guilt{at, true}
		}
	}
	if errorRank(line) == 7 && !exception(line) {
		for _, c := range r.cmds {
			if c.use == forTest {
				return guilt{c.part, true}
			}
		}
	}
	return guilt{}
}

// only is the index of the only part of which something is true, else -1.
func (r *run) only(is func(simple) bool) int {
	at := -1
	for i, s := range r.parts {
		if i > 0 && r.parts[i-1].after == "|" || !is(s) {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// taskFailed are the forms in which task runners name the task that failed.
var taskFailed = []*pattern{
	newPattern(`(?m)^\[([\w:.-]+)\] ERROR\b`),
	newPattern(`(?m)^g?make(?:\[\d+\])?: \*\*\* \[(?:[^\]\n]*: )?([\w:./-]+)\] Error`),
	newPattern("(?m)^error: Recipe `([\\w:-]+)` failed"),
	newPattern("(?m)^npm (?:error|ERR!) Lifecycle script `([\\w:.-]+)` failed"),
}

// failedTask is the task that a runner says failed; empty if none says so.
func failedTask(output string) string {
	output = bounded(output)
	if !strings.Contains(output, "] ERROR") && !strings.Contains(output, "***") && !strings.Contains(output, "Recipe `") && !strings.Contains(output, "Lifecycle") {
		return ""
	}
	output = clean(output)
	for _, form := range taskFailed {
		if m := form.FindStringSubmatch(output); m != nil {
			return m[1]
		}
	}
	return ""
}

// blamed returns the command of a failed command line that failed, as far as that can
// be told: not if one that is not worth remembering failed or may have failed as well.
func blamed(r *run) (command, bool) {
	if len(r.cmds) == 0 {
		return command{}, false
	}
	if g := r.culprit(); g.sure {
		at := slices.IndexFunc(r.cmds, func(c command) bool { return c.part == g.part })
		if at < 0 {
			return command{}, false
		}
		return r.cmds[at], true
	}
	others := 0
	for i, s := range r.parts {
		switch name := unquote(s.words[0]); {
		case name == "cd" || name == "echo" || name == "printf" || name == "set" || name == "export" || name == "sleep" || name == "true" || name == "pwd" || name == "source" || name == ".":
		case i > 0 && r.parts[i-1].after == "|":
		default:
			others++
		}
	}
	if others > len(r.cmds) {
		return command{}, false
	}
	if len(r.cmds) == 1 {
		return r.cmds[0], true
	}
	for _, c := range r.cmds {
		if c.use != forFormat && c.use != forVCS {
			return c, true
		}
	}
	return command{}, false
}

// before reports whether a command of a line that failed in a later part must
// have succeeded.
func before(r *run, c command) bool {
	g := r.culprit()
	if !g.sure || c.part >= g.part {
		return false
	}
	for _, s := range r.parts[c.part:g.part] {
		if s.after != "&&" {
			return false
		}
	}
	return true
}
