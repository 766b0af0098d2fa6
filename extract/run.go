package extract

import (
	"slices"
	"strings"

	"memoir"
)

// A run is one command line that was run.
type run struct {
	item    int
	line    string
	output  string
	whole   []simple // of the line
	parts   []simple // of the line, or of the one that it hands to a shell
	failed  bool     // the format, the exit status or, without one, the output says so
	unknown bool     // still running, or the output does not tell
	cmds    []command
	edits   int     // edits of the session before it
	reads   int     // files read by the session before it
	root    string  // of the repository
	reason  *string // what why found
	refused *bool   // what declined found
	looks   *bool   // what looksFailed found
	guilt   *guilt  // what culprit found
}

// runAt compares a run with an item, for a search in runs, which are in order.
func runAt(r *run, item int) int { return r.item - item }

// why is the line of a failed run's output that says most about why.
func (r *run) why() string {
	if r.reason == nil {
		line := keyLine(r.output, r.root)
		r.reason = &line
	}
	return *r.reason
}

// looksFailed reports whether the output says that the run failed.
func (r *run) looksFailed() bool {
	if r.looks == nil {
		failed := looksFailed(r.output)
		r.looks = &failed
	}
	return *r.looks
}

// declined reports whether the run was refused, interrupted or stopped by a sandbox.
func (r *run) declined() bool {
	if r.refused == nil {
		refused := declined(r.output)
		r.refused = &refused
	}
	return *r.refused
}

// shell records the command lines of a call: one, or each line of a script that
// notes the exit status of every line behind its output.
func (r *reading) shell(t *turn, it *memoir.Item, line, root string) {
	line = clean(line)
	if it.Exit == nil && strings.Contains(line, "\n") {
		lines, outputs := noted(line, it.Output)
		for i := range lines {
			one := *it
			one.Output = outputs[i]
			r.record(t, &one, lines[i], root)
		}
		if len(lines) > 0 {
			return
		}
	}
	r.record(t, it, line, root)
}

// noted splits a script of several lines and its output where the output holds
// one exit status for every line; nothing where it does not.
func noted(script, output string) (lines, outputs []string) {
	if strings.Contains(script, "<<") {
		return nil, nil
	}
	for l := range strings.SplitSeq(script, "\n") {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	marks := statusMark.FindAllStringIndex(output, 64)
	if len(lines) < 2 || len(marks) != len(lines) {
		return nil, nil
	}
	from := 0
	for _, m := range marks {
		outputs = append(outputs, output[from:m[1]])
		from = m[1]
	}
	return lines, outputs
}

// record notes one command line.
func (r *reading) record(t *turn, it *memoir.Item, line, root string) {
	run := &run{
		item: it.N, line: line, output: it.Output, whole: splitShell(line), edits: len(r.edits), reads: len(r.reads), root: r.root,
		failed: it.Failed || it.Exit != nil && *it.Exit != 0,
		cmds:   parseCommands(line, it.CWD, root),
	}
	run.parts = run.whole
	if len(run.parts) == 1 {
		if inner, ok := shellArgument(run.parts[0].words); ok {
			run.parts = splitShell(inner)
		}
	}
	run.unknown = !run.failed && it.Exit == nil && unfinished(it.Output)
	if !run.failed && !run.unknown && (it.Exit == nil && !r.told || hides(run)) {
		switch verdict(run.parts, run.cmds, it.Output) {
		case endedBadly:
			run.failed = len(run.cmds) > 0 || it.Exit == nil
			run.unknown = !run.failed
		case endedUnseen:
			run.unknown = true
		}
	}
	if !run.failed {
		run.cmds = slices.DeleteFunc(run.cmds, func(c command) bool { return c.use != forVCS && didNothing(c, len(run.parts) == 1, it.Output) })
	}
	r.runs = append(r.runs, run)
	t.runs = append(t.runs, run)
	if it.CWD != "" {
		t.visit(r.place(it.CWD, root))
	}
	if run.failed {
		return
	}
	r.files.follow(run, it.CWD, root)
	r.revisions.compare(run)
	dirs := directories(run.parts, it.CWD)
	for i, s := range run.parts {
		if i > 0 && run.parts[i-1].after == "|" {
			continue
		}
		name := unquote(s.words[0])
		p := unquote(s.words[len(s.words)-1])
		if len(s.words) < 2 || !looksLikeFile(p) {
			continue
		}
		switch name {
		case "sed", "perl":
			if slices.ContainsFunc(s.words[1:], func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") }) {
				if at := locate(p, dirs[i], root); !temporary(at) {
					r.edit(t, it.N, at)
				}
				continue
			}
			if name == "perl" {
				continue
			}
			fallthrough
		case "cat", "head", "tail", "nl", "bat", "less":
			r.read(it, locate(p, dirs[i], root))
		}
	}
}

// hides reports whether the exit status of a run is not that of a command in it
// that is worth remembering.
func hides(r *run) bool {
	for _, c := range r.cmds {
		if c.masked {
			return true
		}
	}
	return false
}

// unfinished reports whether a result says that the command was still running.
func unfinished(output string) bool {
	head := output[:min(len(output), 200)]
	return strings.Contains(head, "running with session ID") || strings.Contains(head, "Command running in background") ||
		strings.Contains(head, "Script running with cell")
}
