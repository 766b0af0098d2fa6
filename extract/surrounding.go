package extract

import (
	"strings"

	"memoir"
)

// checkedOut tells that a session began without a branch, and how it got one.
func checkedOut(r *reading) []found {
	const looked = 25 // runs at the beginning
	for i, run := range r.runs[:min(len(r.runs), looked)] {
		if len(run.cmds) > 0 && run.cmds[0].use != forVCS {
			continue
		}
		head := clean(run.output[:min(len(run.output), 2<<10)])
		if !strings.Contains(run.line, "git ") || !strings.Contains(head, "## HEAD (no branch)") && !strings.Contains(head, "HEAD detached at") && !strings.Contains(head, "Not currently on any branch") && !strings.Contains(head, "(HEAD detached") {
			continue
		}
		for _, later := range r.runs[i+1 : min(len(r.runs), i+1+60)] {
			if later.failed || len(r.edits) > 0 && later.edits > 0 {
				continue
			}
			if how := branched(later); how != "" {
				return []found{{memoir.Statement{Kind: memoir.StatementEnvironment, Text: "the worktree begins with a detached HEAD, not on a branch; get one with " + code(how) + " before editing", Items: mergeItems([]int{run.item}, []int{later.item})}, 2.2}}
			}
		}
		return nil
	}
	return nil
}

// branched renders what of a command line makes or takes a branch.
func branched(r *run) string {
	for _, s := range r.parts {
		w := s.words
		if len(w) < 3 || s.script {
			continue
		}
		verb := unquote(w[0]) + " " + unquote(w[1])
		switch {
		case verb == "gh pr" && w[2] == "checkout" && len(w) > 3:
			return "gh pr checkout N"
		case (verb == "git switch" || verb == "git checkout") && (w[2] == "-c" || w[2] == "-b") && len(w) > 3:
			branch := unquote(w[3])
			if kind, _, ok := strings.Cut(branch, "/"); ok {
				branch = kind + "/…"
			} else {
				branch = "…"
			}
			text := verb + " " + w[2] + " " + branch
			if len(w) > 4 {
				text += " " + unquote(w[4])
			}
			return text
		case verb == "git switch" && len(w) == 3 && !strings.HasPrefix(w[2], "-"):
			return verb + " …"
		}
	}
	return ""
}

// maxObserved is how many sentences of the agent on its machine are told.
const maxObserved = 3

// observed finds what the agent said of the machine or the checkout that it works
// in: what is missing, refused or different there.
func observed(r *reading, missing []found) []found {
	var out []found
	told := func(sentence string) bool {
		for _, f := range missing {
			if _, rest, ok := strings.Cut(f.Text, "`"); ok {
				if name, _, ok := strings.Cut(rest, "`"); ok && strings.Contains(sentence, name) {
					return true
				}
			}
		}
		return false
	}
	for _, s := range r.says {
		for line := range strings.Lines(s.text) {
			if line = strings.TrimSpace(line); line == "" || len(out) == maxObserved {
				continue
			}
			if entry, ok := listEntry(line); ok {
				line = entry
			}
			for _, sentence := range sentences(line) {
				norm := words(sentence)
				if len(sentence) > maxCause || !has(norm, placeWords) || !has(norm, absences) || begins(norm, planStarts) || has(norm, hedges) || anchors(sentence) == 0 || strings.HasSuffix(sentence, "?") {
					continue
				}
				text := strings.TrimRight(unplanned(tidy(local(sentence, r.root))), ". ,")
				if told(text) || anchors(text) == 0 || r.repaired(text, s.item) {
					continue
				}
				out = r.appendFound(out, found{memoir.Statement{Kind: memoir.StatementEnvironment, Text: text, Items: []int{s.item}}, 2.1})
			}
		}
	}
	return out
}

// unplanned cuts off the clause that says what the agent does about it.
func unplanned(sentence string) string {
	for _, sep := range []string{", so I", "; I'm", "; I’m", "; I'll", "; I’ll", ", and I", " so I’m", " so I'm"} {
		if i := strings.Index(sentence, sep); i > 30 {
			return sentence[:i]
		}
	}
	return sentence
}

// repaired reports whether the session changed its checkout after an item that
// speaks of it: what was true of it is past.
func (r *reading) repaired(text string, item int) bool {
	if !strings.Contains(text, "checkout") && !strings.Contains(text, "worktree") && !strings.Contains(text, "branch") {
		return false
	}
	for _, run := range r.runs {
		if run.item > item && !run.failed {
			if branched(run) != "" {
				return true
			}
			if did, _ := run.changed(r.root); strings.Contains(did, "git ") {
				return true
			}
		}
	}
	return false
}

var (
	placeWords = newPhrases("this machine|this environment|this sandbox|this shell|this worktree|this checkout|this container|this workspace|this host|this mac|on path|on the path|the sandbox|my environment|the local checkout|the local toolchain|local toolchain|shell's path|shell’s path|on macos|on linux|on windows|under wsl|auf diesem rechner|sur cette machine")
	absences   = newPhrases("not|missing|isn't|isn’t|lacks|no|unavailable|cannot|can't|can’t|doesn't|doesn’t|refuses|blocked|only|old|too old|denied|nicht|kein|pas|without")
)

// maxPrompted is how many commands are told that a person showed behind a prompt.
const maxPrompted = 3

// prompted lists the commands that a person pasted behind the prompt of a shell:
// how the project is run by hand.
func prompted(r *reading) []found {
	var out []found
	for _, t := range r.turns {
		if t.ask == nil || len(out) == maxPrompted {
			continue
		}
		for line := range strings.Lines(t.ask.Text[:min(len(t.ask.Text), 8<<10)]) {
			typed := behindPrompt(strings.TrimSpace(clean(line)))
			if typed == "" || len(typed) > 160 {
				continue
			}
			for _, c := range parseCommands(typed, t.ask.CWD, r.root) {
				if c.use == forVCS || c.place != "" {
					continue
				}
				out = r.appendFound(out, found{memoir.Statement{Kind: memoir.StatementCommand, Text: code(c.full()) + " is what the user runs", Items: []int{t.ask.N}}, 2.2})
			}
		}
	}
	return out[:min(len(out), maxPrompted)]
}

// behindPrompt is what stands behind the prompt of a shell in a line.
func behindPrompt(line string) string {
	for _, mark := range []string{"$ ", "% ", "❯ ", "➜ "} {
		i := strings.Index(line, mark)
		if i < 0 || i > 60 {
			continue
		}
		rest := strings.TrimSpace(line[i+len(mark):])
		if mark == "➜ " { // the directory and the branch stand behind this one
			if j := strings.LastIndexByte(rest[:min(len(rest), 60)], ')'); j >= 0 {
				rest = rest[j+1:]
			} else if _, after, ok := strings.Cut(rest, " "); ok {
				rest = after
			}
			rest = strings.TrimSpace(strings.TrimLeft(rest, " ✗±"))
		}
		if rest == "" || mark == "$ " && i > 0 && !strings.ContainsAny(line[:i], "@:~/") {
			continue
		}
		return rest
	}
	return ""
}
