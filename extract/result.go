package extract

import (
	"slices"
	"strings"
	"unicode"

	"memoir/prompts"
)

// succeeded reports whether a command of a run is known to have succeeded.
func (r *run) succeeded(command) bool { return !r.failed && !r.unknown }

// looksFailed reports whether what a command printed says that it failed, for
// where the exit status does not tell.
func looksFailed(output string) bool {
	output = clean(bounded(output))
	var marks []string // what stands nowhere need not be looked up in every line
	for _, m := range failureMarks {
		if strings.Contains(output, m) {
			marks = append(marks, m)
		}
	}
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line == "" || len(line) > 600 {
			continue
		}
		if strings.HasPrefix(line, "[") { // a task runner's label, such as [lint]
			if label, rest, ok := strings.Cut(line, "] "); ok && label != "[ERROR" {
				line = strings.TrimSpace(rest)
			}
		}
		if line == "FAIL" || line == "FAILED" {
			return true
		}
		for _, p := range failurePrefixes[line[0]] {
			if strings.HasPrefix(line, p) {
				return true
			}
		}
		for _, m := range marks {
			if strings.Contains(line, m) {
				return true
			}
		}
		if len(line) <= 160 && sums(line) && strings.ContainsAny(line, "123456789") && holdsAny(strings.ToLower(line), troubles) && failureCount.MatchString(line) {
			return true
		}
	}
	return false
}

// sums reports whether a line is a summary rather than the name of something:
// it begins with a number or the label of a count.
func sums(line string) bool {
	line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if line == "" {
		return false
	}
	if line[0] >= '0' && line[0] <= '9' {
		return true
	}
	if strings.IndexByte("ftesrgp", line[0]|0x20) < 0 { // begins none of the labels
		return false
	}
	lower := strings.ToLower(line)
	for _, p := range []string{"found ", "tests:", "tests ", "test suites", "test files", "failures:", "errors:", "summary", "total", "result", "generated ", "problems:"} {
		if strings.HasPrefix(lower, p) {
			return true
		}
	}
	return false
}

// keyLine is the line of a failed command's output that says most about why. Of a
// test that failed it is the first error: what follows is its teardown.
func keyLine(output string, roots ...string) string {
	const window = 16 << 10
	if len(output) > 2*window {
		output = output[:window] + "\n" + output[len(output)-window:]
	}
	best, bestRank, why := "", 0, ""
	bare := false // the best line so far names what failed, not why
	test, first := false, ""
	lines := slices.Collect(strings.Lines(clean(output)))
	for i, line := range lines {
		line = trimLine(line)
		if len(line) < 4 || !hasLetter(line) {
			line = ""
		}
		lines[i] = line
		if line == "" {
			continue
		}
		rank := errorRank(line)
		ofUse := rank > 0 || bare || strings.HasPrefix(line, "E  ") || strings.HasPrefix(line, "not ok ")
		if !ofUse || prompts.Instructs(line) {
			continue // an instruction is not of this program, whatever it ran
		}
		if why == "" && strings.HasPrefix(line, "E  ") {
			why = strings.TrimSpace(line[1:])
		}
		switch {
		case strings.HasPrefix(line, "not ok ") && bestRank <= 7:
			test = true
		case test && first == "" && rank >= 5 && rank != 7:
			first = line
		}
		if bare && rank < bestRank && !onlyName(line) && !status(line) && len(line) <= 300 {
			best += " — " + line
			bare = false
			continue
		}
		if rank > bestRank {
			best, bestRank, bare = line, rank, onlyName(line)
		}
	}
	if bare && why != "" {
		best += " — " + why
	}
	switch {
	case first != "":
		best = first
	case best == "":
		for _, line := range slices.Backward(lines) {
			if line != "" && len(line) <= 300 && !prompts.Instructs(line) {
				best = line
				break
			}
		}
	}
	return shorten(strings.ReplaceAll(local(best, roots...), "`", "'"), 180)
}

// trimLine strips decoration, time stamps and levels in front of a message.
func trimLine(line string) string {
	line = strings.TrimSpace(line)
	line = strings.TrimLeftFunc(line, func(r rune) bool {
		return r == '│' || r == '|' || r == '>' || r == '•' || r == '×' || r == '✗' || r == '✘' || r == '❯' || r == '▶' || r == '►' || r == '#' || r == '*' || unicode.IsSpace(r) || r >= 0x2500 && r <= 0x259f
	})
	line = strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x2500 && r <= 0x259f })
	if label, rest, ok := strings.Cut(line, "] "); ok && taskLabel(label) {
		return strings.TrimSpace(rest)
	}
	return line
}

// taskLabel reports whether what stands before "] " names the task that printed a
// line rather than a level or a count.
func taskLabel(label string) bool {
	if len(label) < 2 || len(label) > 40 || label[0] != '[' || label[1] < 'a' || label[1] > 'z' {
		return false
	}
	switch label[1:] {
	case "error", "fatal", "warn", "warning", "err":
		return false
	}
	return strings.Trim(label[1:], "abcdefghijklmnopqrstuvwxyz0123456789:._-/@") == ""
}

// onlyName reports whether a line tells which test or place failed, but not why.
func onlyName(line string) bool {
	if located(line) {
		_, rest, _ := strings.Cut(line, ":")
		return len(strings.Fields(strings.TrimLeft(rest, "0123456789:"))) <= 1
	}
	return strings.HasPrefix(line, "--- FAIL") || strings.Contains(line, "panicked at") && strings.HasSuffix(line, ":") || strings.HasPrefix(line, "FAILED ") && !strings.Contains(line, " - ")
}

// status reports whether a line sums up a run: how long it took, how many failed.
func status(line string) bool {
	return strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "make") || strings.Contains(line, " passed in ") || strings.Contains(line, " failed in ") || strings.Contains(line, " passed, ") || strings.Contains(line, " failed, ") || strings.HasPrefix(strings.ToLower(line), "exit status") || strings.HasPrefix(strings.ToLower(line), "exit code") || strings.HasPrefix(strings.ToLower(line), "command exited")
}

// errorRank is how likely a line is to be the reason of a failure, 0 for not at all.
func errorRank(line string) int {
	lower := strings.ToLower(line)
	if len(line) > 600 {
		return 0
	}
	switch {
	case listing(line), hollow(lower):
		return 0
	case strings.HasPrefix(lower, "make: *"), strings.HasPrefix(lower, "make[") && strings.Contains(lower, "]: *"), strings.HasPrefix(lower, "npm err! code"), strings.HasPrefix(lower, "npm error code"), strings.HasPrefix(lower, "npm err! errno"),
		strings.HasPrefix(lower, "error: test failed, to rerun pass"):
		return 1 // that something failed, which is known
	case strings.HasPrefix(lower, "warning"), strings.Contains(lower, "0 errors"), strings.Contains(lower, "0 failed"), strings.HasPrefix(lower, "note:"), strings.Contains(lower, "error handling"):
		return 0
	case strings.Contains(lower, "command not found"), strings.Contains(lower, "executable file not found"), strings.Contains(lower, "no such file or directory"),
		strings.Contains(lower, "permission denied"), strings.Contains(lower, "unknown flag"), strings.Contains(lower, "unknown option"), strings.Contains(lower, "unrecognized"),
		strings.Contains(lower, "unexpected argument"), strings.Contains(lower, "unknown json field"), strings.Contains(lower, "cannot find module"), strings.Contains(lower, "no module named"),
		strings.Contains(lower, "modulenotfounderror"), strings.Contains(lower, "address already in use"), strings.Contains(lower, "connection refused"), strings.Contains(lower, "could not resolve host"),
		strings.Contains(lower, "no space left"), strings.Contains(lower, "operation not permitted"), strings.Contains(lower, "missing script"), strings.Contains(lower, "not installed"), strings.Contains(lower, "is not trusted"):
		return 9
	case strings.HasPrefix(lower, "error[") || strings.HasPrefix(lower, "error:") || strings.HasPrefix(lower, "fatal:") || strings.HasPrefix(lower, "panic:"):
		return 8
	case strings.Contains(line, "--- FAIL"), strings.Contains(line, "panicked at"), strings.Contains(line, "error TS"), strings.HasSuffix(lower, "... failed"), strings.HasPrefix(line, "FAILED "), strings.HasPrefix(line, "not ok "):
		return 7
	case exception(line):
		return 7
	case strings.Contains(lower, ": error:"), strings.Contains(lower, "error:"), strings.HasPrefix(lower, "e   "), located(line):
		return 6
	case strings.Contains(lower, "cannot "), strings.Contains(lower, "could not "), strings.Contains(lower, "undefined:"), strings.Contains(lower, "not found"), strings.Contains(lower, "denied"), strings.Contains(lower, "failed to"), strings.Contains(lower, "refused"), strings.Contains(lower, "invalid "):
		return 5
	case strings.Contains(lower, "failed") || strings.Contains(lower, "error"):
		return 3
	case strings.Contains(lower, "expected") || strings.Contains(lower, "assert"):
		return 2
	}
	return 0
}

// listing reports whether a line is source code with a line number in front.
func listing(line string) bool {
	rest := strings.TrimLeft(line, "0123456789 ")
	return rest != line && (strings.HasPrefix(rest, "│") || strings.HasPrefix(rest, "|")) || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "* ")
}

// hollow reports whether a line says no more than that something failed.
func hollow(lower string) bool {
	for w := range strings.FieldsFuncSeq(lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch w {
		case "error", "errors", "task", "tasks", "failed", "fail", "failure", "command", "exit", "exited", "code", "status", "with", "lint", "test", "tests", "build", "fmt", "check", "script", "process", "the", "run", "running", "a", "non", "zero":
		default:
			return false
		}
	}
	return true
}

// located reports whether a line begins with file:line: or file(line,column):.
func located(line string) bool {
	file, rest, ok := strings.Cut(line, ":")
	if !ok || strings.ContainsAny(file, " \t") || !strings.Contains(file, ".") {
		return false
	}
	digits := strings.TrimLeft(rest, "0123456789")
	return digits != rest && strings.HasPrefix(digits, ":")
}

// exception reports whether a line begins with the name of an error class.
func exception(line string) bool {
	name, _, ok := strings.Cut(line, ":")
	if !ok || strings.ContainsAny(name, " /") {
		return false
	}
	return strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")
}
