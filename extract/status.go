package extract

import (
	"strings"
	"sync"

	"memoir"
)

// A status is what is known of how a command ended.
type status int

const (
	statusUnknown status = iota
	statusPassed
	statusFailed
)

// marksFailures reports whether an agent marks every failed call, so that a call
// without a mark and without an exit status succeeded.
func marksFailures(s memoir.Source) bool {
	return s != memoir.SourceCodex && s != memoir.SourceUnknown
}

// ended tells how a call ended. A call without an exit status of an agent that does not
// mark failures counts as passed here; judge then looks at what it printed.
func ended(it *memoir.Item, source memoir.Source) status {
	switch {
	case declined(it.Output) || unfinished(it.Output):
		return statusUnknown
	case it.Failed || it.Exit != nil && *it.Exit != 0:
		return statusFailed
	case it.Exit == nil && !marksFailures(source) && strings.TrimSpace(it.Output) == "":
		return statusUnknown
	}
	return statusPassed
}

// judge sets the status of every command of a call. Without an exit status, all of
// them are judged by what was printed. Of a call that failed, a command failed for certain
// only where it is the only one that reads no other's output.
func judge(c *call, unmarked bool) {
	sources := 0
	for _, r := range c.runs {
		if !r.filter {
			sources++
		}
	}
	silent := sync.OnceValue(func() bool { return failureLine(c.output) == "" })
	for _, r := range c.runs {
		switch {
		case c.status == statusFailed && sources == 1 && !r.filter:
			r.status = statusFailed
		case c.status != statusPassed || r.depends == unsure:
		case r.depends == bound && !unmarked, r.target == "" && silent():
			r.status = statusPassed
		}
	}
}

// declined reports whether a call was refused, interrupted or stopped rather than failed.
func declined(output string) bool {
	head := output[:min(len(output), 300)]
	for _, p := range []string{
		"doesn't want to proceed", "was rejected", "rejected by user", "User rejected", "interrupted by user",
		"Command aborted", "aborted by user",
		"[Request interrupted", "timed out after", "Operation aborted", "user cancelled", "denied by the user",
	} {
		if strings.Contains(head, p) {
			return true
		}
	}
	return false
}

// unfinished reports whether a result says that the command was still running.
func unfinished(output string) bool {
	head := output[:min(len(output), 200)]
	return strings.Contains(head, "running with session ID") || strings.Contains(head, "running in background") ||
		strings.Contains(head, "Script running with cell")
}

// window is how many bytes of an output's beginning and end are read.
const window = 6 << 10

// failureLine returns the line of an output that says that something failed; empty if there is none.
func failureLine(output string) string {
	if len(output) > 2*window {
		output = output[:window] + "\n" + output[len(output)-window:]
	}
	for line := range strings.Lines(clean(output)) {
		if line = strings.TrimSpace(line); line != "" && saysFailure(line) {
			return line
		}
	}
	return ""
}

// failureStarts begin lines that say that something failed.
var failureStarts = []string{
	"error:", "error[", "Error:", "ERROR:", "[ERROR]", "ERROR ", "fatal:", "Fatal", "FAIL", "--- FAIL",
	"FAILED", "not ok ", "panic:", "Traceback (most recent",
	"npm ERR!", "npm error", "make: ***", "gmake: ***", "E   ", "undefined reference", "Usage:", "usage:",
	"✗", "✘", "✖", "thread '",
}

// failureParts occur in lines that say that something failed.
var failureParts = []string{
	"command not found", "No such file or directory", "error TS", ": error:", ": error ", "BUILD FAIL",
	"panicked at", "Segmentation fault", "ELIFECYCLE",
	"exited with code 1", "exit status 1", "exit code 1", "Permission denied", "Command failed",
	"could not compile", "test result: FAILED", "SyntaxError", "unrecognized",
	"Unknown command", "unknown command", "cannot find module", "Cannot find module", "ModuleNotFoundError",
	"is not recognized",
}

func saysFailure(line string) bool {
	for _, p := range failureStarts {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	for _, p := range failureParts {
		if strings.Contains(line, p) {
			return true
		}
	}
	word, _, _ := strings.Cut(line, " ")
	if strings.HasSuffix(word, "Error:") || strings.HasSuffix(word, "Exception:") {
		return true
	}
	return countsFailures(line) || notesStatus(line)
}

// countsFailures reports whether a line counts failures or errors, and not none.
func countsFailures(line string) bool {
	lower := strings.ToLower(line)
	if !strings.Contains(lower, "fail") && !strings.Contains(lower, "error") && !strings.Contains(lower,
		"problem") && !strings.Contains(lower, "issue") {
		return false
	}
	number := false
	for w := range strings.FieldsSeq(lower) {
		w = strings.Trim(w, "(),.;:[]*")
		switch {
		case w != "" && strings.Trim(w, "0123456789") == "":
			number = strings.Trim(w, "0") != ""
			continue
		case number && (w == "test" || w == "tests" || w == "checks" || w == "suites" || w == "specs"):
			continue
		case number && (strings.HasPrefix(w, "fail") || strings.HasPrefix(w, "error") || strings.HasPrefix(w,
			"problem") || strings.HasPrefix(w, "issue")):
			return true
		}
		number = false
	}
	return false
}

// notesStatus reports whether a line notes an exit status other than 0, as scripts do: "exit=1".
func notesStatus(line string) bool {
	lower := strings.ToLower(strings.Trim(line, " -=*[]#"))
	for _, p := range []string{"exit", "rc", "status"} {
		if rest, ok := strings.CutPrefix(lower, p); ok && len(rest) < 24 {
			rest = strings.TrimLeft(rest, " _codestau=:")
			if rest != "" && strings.Trim(rest, "0123456789") == "" && strings.Trim(rest, "0") != "" {
				return true
			}
		}
	}
	return false
}
