package extract

import (
	"slices"
	"strings"

	"memoir"
)

// What is known of how a run ended.
const (
	endedWell = iota
	endedBadly
	endedUnseen // the output does not tell, or was cut
)

// statusMark is a line in which a script or an agent notes an exit status.
var statusMark = newPattern(`(?mi)^\s*\W{0,3}(?:process exited with code|(?:command |script )?exited with (?:exit )?code|exit[ _-]?(?:code|status)?|rc|return code)\s*[=: ]\s*(\d{1,3})\W{0,3}$`)

// statuses are the exit statuses that a text notes, in order.
func statuses(output string) []string {
	output = bounded(output)
	if !mayNote(output) {
		return nil
	}
	var out []string
	for _, m := range statusMark.FindAllStringSubmatch(output, 64) {
		out = append(out, m[1])
	}
	return out
}

// mayNote is a cheap test that a text which notes an exit status passes.
func mayNote(output string) bool {
	if strings.Contains(output, "xit") || strings.Contains(output, "EXIT") || strings.Contains(output, "eturn code") {
		return true
	}
	for from := 0; ; {
		i := strings.Index(output[from:], "rc")
		if i < 0 {
			return false
		}
		from += i + len("rc")
		if from < len(output) && strings.IndexByte("=: \t\r\n", output[from]) >= 0 && (from == len("rc") || !letter(output[from-len("rc")-1])) {
			return true
		}
	}
}

// reliable reports whether a source marks every failed call as failed, so that a
// call without a mark succeeded.
func reliable(s memoir.Source) bool { return s != memoir.SourceCodex && s != memoir.SourceUnknown }

// verdict judges by its output a run whose exit status is missing or that of
// another command, such as a filter behind a pipe.
func verdict(parts []simple, cmds []command, output string) int {
	for _, code := range statuses(output) {
		if strings.Trim(code, "0") != "" {
			return endedBadly
		}
	}
	checks := false
	for _, c := range cmds {
		checks = checks || c.use == forLint || c.use == forBuild || c.use == forTest
	}
	searched := false // what is printed are hits of a search rather than messages
	for i, s := range parts {
		switch name := unquote(s.words[0]); {
		case (name == "head" || name == "wc") && i > 0 && parts[i-1].after == "|":
			if name == "wc" || cutShort(s.words, output) {
				if looksFailed(output) {
					return endedBadly
				}
				return endedUnseen
			}
		case i > 0 && parts[i-1].after == "|":
		case name == "rg" || name == "grep" || name == "git" || len(parts) == 1:
			searched = searched || readers()[name] || name == "git"
		}
	}
	if looksFailed(output) {
		return endedBadly
	}
	if !searched && (checks && complains(output) || endsInError(output)) {
		return endedBadly
	}
	if !checks && strings.TrimSpace(output) == "" && slices.ContainsFunc(parts, func(s simple) bool { return s.after == "|" }) {
		return endedUnseen // a program that prints nothing into a pipe may not have begun
	}
	return endedWell
}

// didNothing reports whether the first lines of an output say that there was nothing
// for a command to do, so that it ended well for no reason of its own. alone tells that
// no other command printed there; else the line opens with the command's program.
func didNothing(c command, alone bool, output string) bool {
	n := 0
	for line := range strings.Lines(clean(output[:min(len(output), 400)])) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if n++; n > 3 {
			return false
		}
		lower := strings.ToLower(line)
		_, lacking, lacks := strings.Cut(lower, " no ")
		if !(lacks && strings.Contains(lacking, "configured")) && (!strings.Contains(lower, "nothing to ") || strings.Contains(lower, "nothing to be done")) {
			continue
		}
		first, _, _ := strings.Cut(line, " ")
		if alone && len(output) <= 400 || slices.Contains(strings.Fields(c.text), strings.Trim(first, ":[]")) {
			return true
		}
	}
	return false
}

// cutShort reports whether head printed as many lines as it was told to.
func cutShort(words []string, output string) bool {
	n := 10
	for i, w := range words[1:] {
		digits := strings.TrimPrefix(strings.TrimPrefix(w, "-n"), "-")
		if w == "-n" && i+2 < len(words) {
			digits = words[i+2]
		}
		if digits != "" && strings.Trim(digits, "0123456789") == "" {
			n = 0
			for _, c := range digits {
				n = min(n*10+int(c-'0'), 1<<20)
			}
			break
		}
		if strings.HasPrefix(w, "-c") {
			return false
		}
	}
	return strings.Count(strings.TrimRight(output, "\n"), "\n")+1 >= n
}

// complains reports whether a checker printed a complaint about a place in a file.
func complains(output string) bool {
	for line := range strings.Lines(bounded(output)) {
		line = trimLine(clean(line))
		if strings.HasPrefix(line, "[") { // a task runner's label
			if _, rest, ok := strings.Cut(line, "] "); ok {
				line = rest
			}
		}
		if located(line) && !strings.Contains(strings.ToLower(line), "warning") && !onlyName(line) {
			return true
		}
	}
	return false
}

// endsInError reports whether the last lines of an output are messages of errors
// that stop a program.
func endsInError(output string) bool {
	lines := strings.Split(strings.TrimRight(output, " \t\r\n"), "\n")
	n := 0
	for i := len(lines) - 1; i >= 0 && n < 2; i-- {
		line := trimLine(clean(lines[i]))
		if line == "" {
			continue
		}
		n++
		if errorRank(line) >= 8 {
			return true
		}
	}
	return false
}

// bounded keeps the beginning and the end of a long output.
func bounded(output string) string {
	const window = 6 << 10
	if len(output) > 2*window {
		return output[:window] + "\n" + output[len(output)-window:]
	}
	return output
}

// failureCount is a summary that counts failures, errors or issues.
var failureCount = newPattern(`(?i)(?:^|[\s(:,*])([1-9]\d{0,5}) (?:tests? |specs? |examples? |suites? )?(?:failed|failing|failures?|errors?|issues?|problems?|offenses?|violations?)\b`)

// troubles are what failureCount counts.
var troubles = []string{"fail", "error", "issue", "problem", "offense", "violation"}

var failureMarks = []string{
	"): error TS", " - error TS", "test result: FAILED", "command not found", "panicked at", "ERROR task failed", "BUILD FAILED", "FAILURES!", "ERRORS!",
	"FAILURE: Build failed", "BUILD FAILURE", "failed to solve", ": error CS", ": error MSB", "CMake Error", "Segmentation fault", "Lifecycle script", ": fatal error: ", "** (Mix)",
	"LoadError", "Could not resolve dependencies", "ERESOLVE", "command failed with exit code", "Command failed", "exited with code 1", "Tests failed", "Uncaught exception",
}

// failurePrefixes are what lines begin with that say that something failed, by
// their first byte.
var failurePrefixes = func() (by [256][]string) {
	for _, p := range []string{
		"error[", "error:", "fatal:", "FAIL\t", "FAIL ", "--- FAIL", "npm ERR!", "npm error", "Traceback (most recent", "panic: ", "make: ***", "make[1]: ***", "gmake: ***",
		"ELIFECYCLE", "error Command failed", "FAILED ", "FAILED:", "FAILED (", "not ok ", "[ERROR]", "ERROR:", "E   ", "ninja: build stopped", "Error: ", "rake aborted!",
		"PHP Fatal error", "Fatal error:", "undefined reference", "ld: ", "collect2: error",
	} {
		by[p[0]] = append(by[p[0]], p)
	}
	return by
}()
