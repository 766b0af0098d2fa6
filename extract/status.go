package extract

import (
	"slices"
	"strings"
	"sync"
	"syscall"

	"memoir"
	"memoir/internal/lazyregexp"
)

type status int

const (
	statusUnknown status = iota
	statusPassed
	statusFailed
)

// marksFailures reports whether an agent marks every failed call: a call without a mark and
// without an exit status then succeeded.
func marksFailures(s memoir.Source) bool {
	return s != memoir.SourceCodex && s != memoir.SourceUnknown
}

// ended returns the status of a call. If the agent does not mark failures, a call with output
// but without an exit status counts as passed; judge then reads the output.
func ended(it *memoir.Item, source memoir.Source) status {
	switch {
	case begins(it.Output, refusals) || begins(it.Output, stillRunning):
		return statusUnknown
	case it.Failed || it.Exit != nil && *it.Exit != 0:
		return statusFailed
	case it.Lost, it.Exit == nil && !marksFailures(source) && strings.TrimSpace(it.Output) == "":
		return statusUnknown
	}
	return statusPassed
}

// judge sets the status of every command of a call, from the output if the call is unmarked. A failed call marks a
// command as failed only if no other command could have failed, except filters of its output.
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

// refusals occur in results of calls that were refused, interrupted or stopped.
var refusals = []string{
	"doesn't want to proceed", "was rejected", "rejected by user", "User rejected", "interrupted by user",
	"Command aborted", "aborted by user", "[Request interrupted", "timed out after", "Operation aborted",
	"user cancelled", "denied by the user",
}

// stillRunning occurs in results of calls whose command was still running.
var stillRunning = []string{"running with session ID", "running in background", "Script running with cell"}

// begins reports whether the first 300 bytes of an output have one of some phrases.
func begins(output string, phrases []string) bool {
	head := output[:min(len(output), 300)]
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(head, p) })
}

// window is the number of bytes that are read at an output's beginning and at its end.
const window = 6 << 10

// failureLine returns the first line of an output that reports a failure; empty if there is none.
func failureLine(output string) string {
	return firstFailure(output, func(string) bool { return true })
}

func firstFailure(output string, tells func(line string) bool) string {
	if len(output) > 2*window {
		output = output[:window] + "\n" + output[len(output)-window:]
	}
	for line := range strings.Lines(clean(output)) {
		if line = strings.TrimSpace(line); line != "" && saysFailure(line) && tells(line) {
			return line
		}
	}
	return ""
}

var failureStarts = []string{
	"error:", "error[", "Error:", "ERROR:", "[ERROR]", "ERROR ", "fatal:", "Fatal", "FAIL", "--- FAIL",
	"not ok ", "panic:", "Traceback (most recent", "npm ERR!", "npm error", "make: ***", "gmake: ***", "E   ",
	"undefined reference", "Usage:", "usage:", "✗", "✘", "✖", "thread '",
}

var failureParts = []string{
	"command not found", "No such file or directory", "error TS", ": error:", ": error ", "BUILD FAIL",
	"panicked at", "Segmentation fault", "ELIFECYCLE", "exited with code 1", "exit status 1", "exit code 1",
	"Permission denied", "Command failed", "could not compile", "SyntaxError", "unrecognized",
	"unknown command", "Unknown command", "cannot find module", "Cannot find module", "ModuleNotFoundError",
	"is not recognized",
}

// failureCount matches a nonzero count of failures; failureNote matches a line with an exit
// status other than 0, as scripts print it: "exit=1".
var (
	failureCount = lazyregexp.New(`(?i)(?:^|[\s(\[*])0*[1-9]\d*[\s),.;\]*]+(?:(?:tests?|checks|suites|specs)\s+)*` +
		`(?:fail|error|problem|issue)`)
	failureNote = lazyregexp.New(`(?i)^[ \-=*\[\]#]*(?:exit|rc|status)[ _codestau=:]*0*[1-9]\d*[ \-=*\[\]#]*$`)
)

// systemErrors returns the messages of errno, which perror(3) prints behind a colon at the end of a line. The few that
// only one system has are rare.
var systemErrors = sync.OnceValue(func() map[string]bool {
	texts := map[string]bool{}
	for e := syscall.Errno(1); e < 200; e++ {
		if text := e.Error(); !strings.HasPrefix(text, "errno ") {
			texts[text] = true
		}
	}
	return texts
})

func saysFailure(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	colon := strings.LastIndex(line, ": ")
	return colon > 0 && systemErrors()[strings.ToLower(line[colon+2:])] ||
		slices.ContainsFunc(failureStarts, func(p string) bool { return strings.HasPrefix(line, p) }) ||
		slices.ContainsFunc(failureParts, func(p string) bool { return strings.Contains(line, p) }) ||
		strings.HasSuffix(word, "Error:") || strings.HasSuffix(word, "Exception:") ||
		strings.ContainsAny(line, "123456789") && (failureCount.MatchString(line) || failureNote.MatchString(line))
}
