package extract

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
)

// failures pairs commands that failed with what was different when the same
// command, or one of its family, succeeded later in the session.
func failures(r *reading, in Input) []found {
	var out []found
	told := map[string]int{} // command and error line -> index in out
	edited := map[string]int{}
	for i, run := range r.runs {
		if !run.failed || declined(run.output) {
			continue
		}
		c, ok := blamed(run)
		if !ok {
			continue
		}
		line := keyLine(run.output, r.root, in.Session.CWD)
		rank := errorRank(line)
		if rank <= 1 || onlyStatus(line) || c.use == forFormat && rank < 8 {
			continue
		}
		s := memoir.Statement{Kind: memoir.StatementFailure, Items: []int{run.item}}
		head := fmt.Sprintf("%s failed: %s", code(shorten(c.full(), 130)), line)
		key := c.family + "\x00" + errorKey(line)
		weight := 1 + float64(rank)/4
		fix := fixed(r, i, c)
		switch {
		case fix == nil && (!lastState(r, i, c) || covered(r, i, c)):
			continue
		case fix == nil:
			s.Text = head + " — unresolved"
			weight += 0.5
			if rank >= 9 {
				weight++
			}
		default:
			s.Items = mergeItems(s.Items, fix.items)
			s.Text = head + " — " + fix.how
			if fix.command {
				weight += 2
			} else if rank < 9 {
				weight -= 0.8 // the usual round of editing and compiling
				if edited[c.family]++; edited[c.family] > 2 {
					continue
				}
			}
		}
		s.Text += elsewhere(c.place)
		if c.place != "" {
			weight--
		}
		if at, ok := told[key]; ok {
			out[at].Items = mergeItems(out[at].Items, s.Items)
			out[at].Text = s.Text
			out[at].weight = max(out[at].weight, weight) + 0.3
			continue
		}
		told[key] = len(out)
		out = append(out, found{s, weight})
	}
	return out
}

// blamed returns the command of a failed command line that failed, as far as
// that can be told: not if one that is not worth remembering may have failed as well.
func blamed(r *run) (command, bool) {
	if len(r.cmds) == 0 {
		return command{}, false
	}
	others := 0
	parts := splitShell(r.line)
	for i, s := range parts {
		switch name := unquote(s.words[0]); {
		case name == "cd" || name == "echo" || name == "printf" || name == "set" || name == "export" || name == "sleep" || name == "true" || name == "pwd" || name == "source" || name == ".":
		case i > 0 && parts[i-1].after == "|":
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
	line := keyLine(r.output)
	for _, c := range r.cmds {
		if c.use == forTest && errorRank(line) == 7 && !exception(line) {
			return c, true
		}
	}
	for _, c := range r.cmds {
		if c.use != forFormat && c.use != forVCS {
			return c, true
		}
	}
	return command{}, false
}

type fix struct {
	items   []int
	how     string
	command bool // another command, not edits, made the difference
}

// maxAhead is how many runs after a failure are searched for what mended it. What
// comes later is another matter, and a session may have a hundred thousand runs.
const maxAhead = 300

// fixed finds what succeeded after the failure of a command: the same command,
// one that runs it by another way, one of its family, or one of the same use on
// the same file.
func fixed(r *reading, failed int, c command) *fix {
	var near, far *fix
	before := r.runs[failed]
	for k, later := range r.runs[failed+1 : min(len(r.runs), failed+1+maxAhead)] {
		for _, d := range later.cmds {
			if d.place != c.place || !later.succeeded(d) {
				continue
			}
			files := editedBetween(r, before.edits, later.edits)
			switch {
			case d.text == c.text:
				if near != nil && near.command {
					return near
				}
				return again(c, d, r.runs[failed+1:failed+1+k], before, later, files)
			case strings.HasSuffix(d.text, " "+c.text):
				return &fix{items: []int{later.item}, how: "worked: " + code(d.full()), command: true}
			case d.family == c.family && near == nil && c.use != forVCS:
				if files != "" {
					near = &fix{items: []int{later.item}, how: code(d.full()) + " passed after editing " + files}
				} else {
					near = &fix{items: []int{later.item}, how: difference(c.full(), d.full()), command: true}
				}
			case far == nil && d.use == c.use && sharesFile(c.text, d.text):
				far = &fix{items: []int{later.item}, how: "worked instead: " + code(d.full()), command: true}
			}
		}
	}
	if near != nil {
		return near
	}
	return far
}

// again says what made the difference when the very command that failed
// succeeded later: what stood in front of it, what was run or edited between.
func again(c, d command, between []*run, before, later *run, files string) *fix {
	f := &fix{items: []int{later.item}}
	helpers, at, installed := effective(between, c)
	how := environment(before.line, later.line)
	missing := files == "" || installed || errorRank(keyLine(before.output)) >= 9
	switch {
	case how != "":
		f.how, f.command = "passed with "+code(how), true
	case d.prefix != c.prefix && d.prefix != "":
		f.how, f.command = "passed with "+code(d.prefix), true
	case len(helpers) > 0 && missing:
		for i, h := range helpers {
			helpers[i] = code(shorten(h, 100))
		}
		if files != "" {
			helpers = append(helpers, "editing "+files)
		}
		f.how, f.command = "passed after "+strings.Join(helpers, " and "), true
		f.items = mergeItems(f.items, at)
	case files != "":
		f.how = "passed after editing " + files
	default:
		f.how = "passed when run again"
	}
	return f
}

// difference says what a command that worked has that the failed one lacked, or
// the other way round; the whole command if they differ in more than a few words.
func difference(failed, worked string) string {
	a, b := strings.Fields(failed), strings.Fields(worked)
	less := slices.DeleteFunc(slices.Clone(a), func(w string) bool { return slices.Contains(b, w) })
	more := slices.DeleteFunc(slices.Clone(b), func(w string) bool { return slices.Contains(a, w) })
	switch {
	case len(more) == 0 && len(less) > 0 && len(less) <= 4:
		if i := slices.Index(a, less[0]); i > 0 && len(less) == 1 && strings.HasPrefix(a[i-1], "-") && len(a)-len(b) == 2 {
			less = []string{a[i-1], less[0]}
		}
		return "worked without " + code(strings.Join(less, " "))
	case len(less) == 0 && len(more) > 0 && len(more) <= 4:
		return "worked with " + code(strings.Join(more, " ")) + ": " + code(shorten(worked, 130))
	}
	return "worked: " + code(shorten(worked, 160))
}

// effective lists the last commands, two at most, that changed something between
// a failure and the success of the same command: what installs, generates, builds
// or starts, not what tests, checks or formats; installed says that one of them
// installs something.
func effective(runs []*run, failed command) (texts []string, items []int, installed bool) {
	for i := len(runs) - 1; i >= 0 && len(texts) < 2; i-- {
		for _, c := range slices.Backward(runs[i].cmds) {
			switch c.use {
			case forInstall, forBuild, forRun:
			default:
				continue
			}
			if c.family == failed.family || c.place != failed.place || !runs[i].succeeded(c) || slices.Contains(texts, c.full()) || len(texts) == 2 {
				continue
			}
			texts, items = append(texts, c.full()), append(items, runs[i].item)
			installed = installed || c.use == forInstall
		}
	}
	slices.Reverse(texts)
	return texts, items, installed
}

// sharesFile reports whether two commands name the same file or directory.
func sharesFile(a, b string) bool {
	words := strings.Fields(b)
	for w := range strings.FieldsSeq(a) {
		if len(w) > 3 && looksLikeFile(w) && strings.Contains(w, ".") && slices.Contains(words[1:], w) {
			return true
		}
	}
	return false
}

// environment returns the assignments in front of a command line that another lacks.
func environment(failed, ok string) string {
	var out []string
	for w := range strings.FieldsSeq(ok) {
		if !assignment(w) {
			break
		}
		if !strings.Contains(failed, w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// editedBetween names the first files of the edits from one to another.
func editedBetween(r *reading, from, to int) string {
	var names []string
	seen := map[string]bool{}
	for _, e := range r.edits[from:to] {
		if !seen[e.path] {
			seen[e.path] = true
			name := e.path
			if strings.HasPrefix(name, "/") {
				name = path.Base(name)
			}
			names = append(names, code(name))
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 2:
		return fmt.Sprintf("%s, %s and %d more", names[0], names[1], len(names)-2)
	}
	return strings.Join(names, " and ")
}

// lastState reports whether a failure is the last that the session saw of a command.
func lastState(r *reading, failed int, c command) bool {
	for _, later := range r.runs[failed+1:] {
		for _, d := range later.cmds {
			if d.family == c.family {
				return false
			}
		}
	}
	return true
}

// covered reports whether another command for the same use succeeded later, which
// leaves nothing open.
func covered(r *reading, failed int, c command) bool {
	if c.use != forLint && c.use != forBuild {
		return false
	}
	for _, later := range r.runs[failed+1:] {
		for _, d := range later.cmds {
			if d.use == c.use && d.place == c.place && later.succeeded(d) {
				return true
			}
		}
	}
	return false
}

// errorKey is an error line without what differs between two runs.
func errorKey(line string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, line)
}

// onlyStatus reports whether a line says no more than that something failed.
func onlyStatus(line string) bool {
	norm := strings.TrimSpace(words(line))
	for _, p := range []string{"exit code", "exit status", "command failed", "process exited", "error : exit", "fail", "failed"} {
		if strings.HasPrefix(norm, p) && len(norm) < len(p)+12 {
			return true
		}
	}
	return false
}

// declined reports whether a call failed because it was refused, interrupted or
// stopped by a sandbox: that says nothing about the command.
func declined(output string) bool {
	head := strings.ToLower(output[:min(len(output), 600)])
	for _, s := range []string{"doesn't want to proceed", "does not want to proceed", "user rejected", "rejected by user", "request interrupted", "aborted by user", "command aborted", "tool use was rejected", "denied by sandbox", "sandbox denied", "sandbox(denied", "has not been granted", "requires approval", "permission to use", "user denied", "user cancelled", "user canceled", "operation aborted", "command timed out", "was interrupted"} {
		if strings.Contains(head, s) {
			return true
		}
	}
	return false
}
