package consolidate

import (
	"slices"
	"strings"

	"memoir"
)

// scriptName does not say what the script does: its steps are seldom all of the skill's.
const scriptName = "steps.sh"

// minScriptSteps is how many steps a script takes at least.
const minScriptSteps = 2

// exact returns the longest row of steps that were taken in exactly the same words,
// one right after the other, in at least two sessions, and never in other words.
// Steps that change what others see (a push, a release) end the row: those are for
// the agent to take with open eyes. Nil if there is no row, or if its steps are such
// as every change takes anywhere.
func (r *recurrence) exact() []string {
	var best []string
	for from := range r.keys {
		for to := len(r.keys); to-from >= max(minScriptSteps, len(best)+1); to-- {
			if row, ok := r.row(r.keys[from:to]); ok {
				best = row
				break
			}
		}
	}
	return best
}

// row returns the words of steps that form a row as exact wants it.
func (r *recurrence) row(keys []string) ([]string, bool) {
	if !slices.ContainsFunc(keys, func(key string) bool { return !routine(key) }) {
		return nil, false
	}
	var row []string
	taken := map[*session]bool{}
	for _, p := range r.procs {
		for i, key := range p.keys {
			if !slices.Contains(keys, key) {
				continue
			}
			if outward(key) || !scriptable(p.steps[i]) {
				return nil, false
			}
			if key != keys[0] || i+len(keys) > len(p.keys) || !slices.Equal(p.keys[i:i+len(keys)], keys) {
				continue
			}
			steps := p.steps[i : i+len(keys)]
			if row != nil && !slices.Equal(row, steps) {
				return nil, false
			}
			row = steps
			taken[p.session] = true
		}
	}
	if len(taken) < minSkillSessions {
		return nil, false
	}
	for _, p := range r.procs { // never in other words, wherever they stood
		for i, key := range p.keys {
			if at := slices.Index(keys, key); at >= 0 && p.steps[i] != row[at] {
				return nil, false
			}
		}
	}
	return row, true
}

// outward reports whether a step changes what others see, or the history.
func outward(key string) bool {
	if vcs(key) {
		return true
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(key), func(r rune) bool { return r == ' ' || r == ':' || r == '-' || r == '_' || r == '/' || r == '.' }) {
		switch w {
		case "publish", "deploy", "release", "push", "upload", "apply", "destroy", "upgrade", "rollout", "promote", "submit", "send", "ssh", "scp", "rsync",
			"drop", "delete", "purge", "rm", "reset", "prune", "wipe", "sudo", "kubectl", "helm", "gh", "glab":
			return true
		}
	}
	return false
}

// scriptable reports whether a step is a whole command that means the same again:
// nothing cut off or taken out, nothing of one moment or machine.
func scriptable(step string) bool {
	return !strings.Contains(step, "…") && !strings.Contains(step, "[REDACTED") && !strings.ContainsAny(step, "\n\r") &&
		!strings.Contains(step, "/tmp/") && !strings.Contains(step, "/Users/") && !strings.Contains(step, "/home/")
}

// script writes a row of steps as a script.
func (r *recurrence) script(row []string) memoir.SkillFile {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Steps that were the same in " + plural(len(r.sessions()), "session") + ".\n# Run it in the directory that the repository is checked out in.\nset -eu\n")
	for _, step := range row {
		b.WriteString(step + "\n")
	}
	return memoir.SkillFile{Path: scriptName, Content: b.String()}
}
