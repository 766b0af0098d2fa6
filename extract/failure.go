package extract

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
)

// A trouble is one failure of a session: the same error, whatever command showed it.
type trouble struct {
	commands []string // that showed it, the first two
	line     string
	place    string
	causes   []cause // as far as several were needed
	how      string  // what made the difference
	items    []int
	weight   float64
}

// failures pairs commands that failed with what was different when the same
// command, or one of its family, succeeded later in the session.
func failures(r *reading) []found {
	var list []*trouble
	told := map[string]*trouble{} // by command and error line, and by error line
	edited := map[string]int{}
	for i, run := range r.runs {
		if !run.failed || run.declined() {
			continue
		}
		c, ok := blamed(run)
		if !ok {
			continue
		}
		line := run.why()
		rank := errorRank(line)
		if rank <= 1 || onlyStatus(line) || c.use == forFormat && rank < 8 {
			continue
		}
		f := &trouble{line: line, place: c.place, items: []int{run.item}, weight: 1 + float64(rank)/4}
		key := c.family + "\x00" + errorKey(line)
		same := told[key]
		if same == nil && telling(line) {
			same = told[c.place+"\x00\x00"+line]
		}
		if same != nil {
			same.causes = same.standing(r, run)
			f.causes = slices.Clone(same.causes)
		}
		fix := fixed(r, i, c, line)
		switch {
		case fix == nil && (!lastState(r, i, c) || covered(r, i, c, line)):
			continue
		case fix == nil:
			f.how = "unresolved"
			f.weight += 0.5
			if rank >= 9 {
				f.weight++
			}
			f.causes = nil
		default:
			f.how = fix.how
			if fix.how == ranAgain {
				how, item := r.unseen(run.item, fix.items[0])
				f.how += how
				f.items = mergeItems(f.items, item)
			}
			f.items = mergeItems(f.items, fix.items)
			if why := r.diagnosis(run, fix.by, fix.helped, c.full(), line); why.text != "" {
				if len(f.causes) < maxCauses && !slices.ContainsFunc(f.causes, func(o cause) bool { return o.text == why.text }) {
					f.causes = append(f.causes, why)
				}
				f.weight++
			}
			switch {
			case r.handed(run.item, fix.items[0]), c.use == forVCS && !strings.HasPrefix(c.text, "git ") && fix.how == ranAgain && r.rewritten(run, fix.items[0]):
				continue
			case fix.command:
				f.weight += 2
			case len(f.causes) == 0 && (fix.weak || fix.vague || rank < 9 && r.slip(run, fix.items[0], line)):
				continue
			case fix.weak:
				f.weight--
			case rank < 9:
				f.weight -= 0.8 // the usual round of editing and compiling
				if edited[c.family]++; edited[c.family] > 2 {
					continue
				}
			}
		}
		if c.place != "" {
			f.weight--
		}
		command := code(shorten(c.full(), 130))
		if same == nil {
			f.commands = []string{command}
			told[key], told[c.place+"\x00\x00"+line] = f, f
			list = append(list, f)
			continue
		}
		// What came of the last of them holds.
		if !slices.Contains(same.commands, command) && len(same.commands) < 2 && told[key] == nil {
			same.commands = append(same.commands, command)
		}
		told[key] = same
		same.line, same.causes, same.how = line, f.causes, f.how
		same.items = mergeItems(same.items, f.items)
		same.weight = max(same.weight, f.weight) + 0.3
	}
	var out []found
	for _, f := range list {
		out = append(out, f.found())
	}
	return out
}

// found tells a failure.
func (f *trouble) found() found {
	parts := []string{fmt.Sprintf("%s failed: %s", strings.Join(f.commands, " and "), f.line)}
	items := f.items
	for _, c := range f.causes {
		parts = append(parts, c.text)
		items = mergeItems(items, []int{c.item})
	}
	text := strings.Join(append(parts, f.how), " — ") + elsewhere(f.place)
	return found{memoir.Statement{Kind: memoir.StatementFailure, Text: text, Items: items}, f.weight}
}

// standing are the causes of a failure that a later run with the same error leaves
// possible: what was edited after they were told did not help, so the others are none.
func (f *trouble) standing(r *reading, later *run) []cause {
	if f.line != later.why() {
		return f.causes
	}
	return slices.DeleteFunc(slices.Clone(f.causes), func(c cause) bool {
		edits := r.editsAfter(c.item)
		return len(edits) > 0 && edits[0].item < later.item
	})
}

// telling reports whether an error line says enough for two commands that print it
// to have failed in one way: it names a place in code, or several things.
func telling(line string) bool {
	return located(line) || compiler(line) || len(nameWords(line)) >= 4
}

// rewritten reports whether a run was another command line than the one that failed.
func (r *reading) rewritten(failed *run, item int) bool {
	k, ok := slices.BinarySearchFunc(r.runs, item, runAt)
	return ok && r.runs[k].line != failed.line
}

// handed reports whether a person handed over a credential between two items: what
// worked with it is no way for the next time.
func (r *reading) handed(from, to int) bool {
	return slices.ContainsFunc(r.turns, func(t *turn) bool {
		return t.ask != nil && t.ask.N > from && t.ask.N < to && strings.Contains(t.ask.Text, "REDACTED")
	})
}

// maxCauses is how many causes of one failure are told.
const maxCauses = 3

const (
	// Within how many items a mistake is made and noticed, and noticed and mended,
	// for it to be no more than a slip of the pen.
	slipMade, slipMended = 6, 14
)

// slip reports whether a failure comes from an edit just made and is mended soon
// in the same file, or is the compiler's about code that the session changes: no
// later agent profits from it.
func (r *reading) slip(failed *run, mended int, line string) bool {
	if compiler(line) && r.wrote(fileOf(line), failed.edits) {
		return true
	}
	if mended-failed.item > slipMended {
		return false
	}
	fresh := map[string]bool{}
	for _, e := range slices.Backward(r.edits[:failed.edits]) {
		if failed.item-e.item > slipMade {
			break
		}
		fresh[e.path] = true
	}
	for _, e := range r.edits[failed.edits:] {
		if e.item > mended {
			break
		}
		if fresh[e.path] {
			return true
		}
	}
	return false
}

// lastState reports whether a failure is the last that the session saw of a command.
func lastState(r *reading, failed int, c command) bool {
	return r.lastRun(command{family: c.family}) <= failed
}

// covered reports whether another command for the same use succeeded later, which
// leaves nothing open.
func covered(r *reading, failed int, c command, line string) bool {
	uses := []string{c.use}
	if compiler(line) {
		uses = append(uses, forTest, forLint, forBuild)
	} else if c.use != forLint && c.use != forBuild {
		return false
	}
	return slices.ContainsFunc(uses, func(use string) bool { return r.lastRun(command{use: use, place: c.place}) > failed })
}

// lastRun is the index of the last run with a command of a family, or of the last
// one that succeeded with a command of a use in a place; -1 if there is none.
func (r *reading) lastRun(of command) int {
	if r.last == nil {
		r.last = map[command]int{}
		for i, run := range r.runs {
			for _, c := range run.cmds {
				r.last[command{family: c.family}] = i
				if run.succeeded(c) {
					r.last[command{use: c.use, place: c.place}] = i
				}
			}
		}
	}
	if at, ok := r.last[of]; ok {
		return at
	}
	return -1
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

// fileOf is the base name of the file that a message begins with, if it names one.
func fileOf(line string) string {
	if i := strings.IndexAny(line, ":( "); i > 0 && looksLikeFile(line[:i]) && strings.Contains(path.Base(line[:i]), ".") {
		return path.Base(line[:i])
	}
	return ""
}

// wrote reports whether the session had changed a file of a name before, or any
// file where no name is known.
func (r *reading) wrote(file string, before int) bool {
	if file == "" {
		return before > 0
	}
	first, ok := r.firstEdit[file]
	return ok && first < before
}

// compiler reports whether a line is what a compiler or parser says of a place in code.
func compiler(line string) bool {
	lower := strings.ToLower(line)
	for _, p := range []string{"error ts", "error[e0", "error cs", "undefined:", "cannot find symbol", "cannot find name", "cannot find type", "cannot find function", "cannot find value", "has no member", "undeclared", "unresolved reference", "expected `;`", "expected a semicolon", "syntaxerror", "syntax error", "unexpected token", "does not exist on type", "is not assignable", "declared and not used", "imported and not used", "mismatched types"} {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}
