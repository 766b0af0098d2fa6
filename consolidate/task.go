package consolidate

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"memoir"
)

// takesValue are the options of task runners that have the next word for a value.
var takesValue = map[string]bool{
	"-C": true, "--dir": true, "--prefix": true, "-w": true, "--workspace": true, "--filter": true, "-F": true, "--cwd": true, "-f": true, "-p": true, "--project": true, "--directory": true, "--makefile": true,
}

// packageVerbs are what package managers do themselves; with npm any other word is
// an error, with the others it is a script.
var packageVerbs = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`install i ci add remove rm uninstall un update up upgrade outdated exec dlx x create init publish version pack link unlink audit config view info why ls
		list store patch patch-commit patch-remove pm login logout whoami prune dedupe import rebuild fetch deploy workspace workspaces node env root bin cache plugin set`) {
		m[w] = true
	}
	return m
})

// taskOf returns the named task that a step has a task runner run, and the runner.
// The same task of another runner is the same step: `npm run build`, `bun run
// build` and `make build` are. Both are empty for any other step.
func taskOf(step string) (runner, task string) {
	words := strings.Fields(unwrapped(step))
	if len(words) < 2 {
		return "", ""
	}
	runner = path.Base(words[0])
	args := plainArguments(words[1:])
	if len(args) == 0 {
		return "", ""
	}
	switch runner {
	case "make", "gmake", "just", "task", "go-task", "rake", "invoke", "inv":
		return strings.TrimPrefix(runner, "g"), args[0]
	case "npm", "pnpm", "yarn", "bun":
		switch {
		case args[0] == "run" || args[0] == "run-script":
			if len(args) > 1 {
				return runner, args[1]
			}
		case args[0] == "test" || args[0] == "start" || args[0] == "t":
			if args[0] == "t" {
				return runner, "test"
			}
			return runner, args[0]
		case runner != "npm" && !packageVerbs()[args[0]] && args[0] != "build":
			return runner, args[0]
		}
	case "mise":
		if (args[0] == "run" || args[0] == "r") && len(args) > 1 {
			return runner, args[1]
		}
	case "turbo", "nx", "deno", "lerna":
		if (args[0] == "run" || args[0] == "task") && len(args) > 1 {
			return runner, args[1]
		}
	}
	return "", ""
}

// scoped reports whether a command has a task run in one part of the repository,
// which says nothing of the task of that name elsewhere.
func scoped(command string) bool {
	words := strings.Fields(command)
	for _, w := range words {
		if w == "--" {
			break
		}
		name, _, _ := strings.Cut(w, "=")
		if w == "cd" || takesValue[name] {
			return true
		}
	}
	return false
}

// plainArguments are the words that are neither options, nor their values, nor settings.
func plainArguments(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--":
			return out
		case takesValue[w]:
			i++
		case strings.HasPrefix(w, "-"), strings.Contains(w, "="):
		default:
			out = append(out, w)
		}
	}
	return out
}

// runnerWords are the words by which people speak of a task runner, where its name
// is a common word.
var runnerWords = map[string]string{"make": "makefile", "task": "taskfile", "just": "justfile", "rake": "rakefile"}

// names reports whether what a session says names both of two task runners.
func (s *session) names(a, b string) bool {
	for _, st := range s.statements {
		switch st.Kind {
		case memoir.StatementCommand, memoir.StatementProcedure, memoir.StatementFailure:
			continue
		}
		words := tokens(st.Text)
		if slices.Contains(words, stem(cmp.Or(runnerWords[a], a))) && slices.Contains(words, stem(cmp.Or(runnerWords[b], b))) {
			return true
		}
	}
	return false
}

// A move is that of a project from one task runner to another.
type move struct{ from, to string }

// retire marks what a project ran with a task runner that it has moved away from: a
// task that the new runner runs names its old form, anything else of the old runner
// is said to be old. A move shows in two tasks that were run by the one and from
// some session on by the other alone, or in one and in words that name both.
func retire(commands []*claim, sessions []*session) []*claim {
	type usedBy struct {
		runner string
		*claim
	}
	tasks := map[string][]usedBy{}
	var names []string
	for _, c := range commands {
		name, _, _ := splitCommand(c.text)
		if runner, task := taskOf(name); task != "" && !scoped(name) {
			if tasks[task] == nil {
				names = append(names, task)
			}
			tasks[task] = append(tasks[task], usedBy{runner, c})
		}
	}
	pairs := map[move]int{}
	for _, task := range names {
		for _, old := range tasks[task] {
			for _, fresh := range tasks[task] {
				if old.runner != fresh.runner && old.newest().rank < fresh.from[0].rank {
					pairs[move{old.runner, fresh.runner}]++
				}
			}
		}
	}
	moved := map[string]string{}
	for _, m := range slices.SortedFunc(maps.Keys(pairs), func(a, b move) int { return strings.Compare(a.from+" "+a.to, b.from+" "+b.to) }) {
		if pairs[move{m.to, m.from}] == 0 && (pairs[m] > 1 || slices.ContainsFunc(sessions, func(s *session) bool { return s.names(m.from, m.to) })) {
			moved[m.from] = m.to
		}
	}
	first := map[string]int{} // rank of the first session that a runner was used in
	for _, task := range names {
		for _, u := range tasks[task] {
			if rank, ok := first[u.runner]; !ok || u.from[0].rank < rank {
				first[u.runner] = u.from[0].rank
			}
		}
	}
	gone := map[*claim]bool{}
	for _, task := range names {
		for _, old := range tasks[task] {
			to, ok := moved[old.runner]
			if !ok || old.newest().rank >= first[to] {
				continue
			}
			i := slices.IndexFunc(tasks[task], func(u usedBy) bool { return u.runner == to })
			if i < 0 {
				old.text += " (until " + old.newest().date + ", before the move to `" + to + "`)"
				old.order = kindOther
				continue
			}
			name, _, _ := splitCommand(old.text)
			fresh := tasks[task][i].claim
			if fresh.older == "" || old.newest().date > fresh.olderAt {
				fresh.older, fresh.olderAt = codeSpan(name), old.newest().date
			}
			gone[old.claim] = true
		}
	}
	return slices.DeleteFunc(commands, func(c *claim) bool { return gone[c] })
}
