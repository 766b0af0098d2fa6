package consolidate

import (
	"path"
	"slices"
	"strings"
)

// runners run another command; they are no part of what a step does.
var runners = [][]string{
	{"uv", "run"}, {"uvx"}, {"poetry", "run"}, {"pdm", "run"}, {"hatch", "run"}, {"pipenv", "run"}, {"rye", "run"}, {"bundle", "exec"}, {"npx"}, {"bunx"}, {"pnpm", "exec"}, {"pnpm", "dlx"},
	{"yarn", "exec"}, {"yarn", "dlx"}, {"npm", "exec"}, {"sudo"}, {"direnv", "exec"}, {"dotenv"}, {"pipx", "run"}, {"time"},
}

// stepKey names what two runs of "the same step" share: the program and its
// subcommand, or the task that a task runner is told. What stands in front (directory,
// variables, runners) does not count.
func stepKey(step string) string {
	if _, task := taskOf(step); task != "" {
		return "run " + task
	}
	words := strings.Fields(unwrapped(step))
	if len(words) == 0 {
		return ""
	}
	key := []string{path.Base(words[0])}
	for _, w := range plainArguments(words[1:]) {
		if strings.HasPrefix(w, "+") || strings.Trim(w, "v0123456789.+-") == "" { // a toolchain; a version, a number
			continue
		}
		if interpreters[key[0]] && len(key) == 1 {
			key = append(key, path.Base(w))
			break
		}
		if strings.ContainsAny(w, "/\"'$") || len(key) == 1 && strings.Contains(w, ".") {
			break
		}
		key = append(key, w)
		if len(key) == 3 || len(key) == 2 && w != "run" && w != "compose" && key[0] != "gh" && key[0] != "mise" {
			break
		}
	}
	return strings.Join(key, " ")
}

// interpreters run the script that is named first.
var interpreters = map[string]bool{"sh": true, "bash": true, "zsh": true, "node": true, "python": true, "python3": true, "ruby": true, "perl": true, "php": true, "tsx": true}

// unwrapped is the command that a step comes down to.
func unwrapped(step string) string {
	for changed := true; changed; {
		changed = false
		words := strings.Fields(step)
		if len(words) > 3 && words[0] == "cd" && words[2] == "&&" {
			step, changed = strings.Join(words[3:], " "), true
			continue
		}
		if len(words) > 1 && assigns(words[0]) {
			step, changed = strings.Join(words[1:], " "), true
			continue
		}
		if len(words) > 2 && words[0] == "mise" && (words[1] == "x" || words[1] == "exec") {
			if _, inner, ok := strings.Cut(step, " -- "); ok {
				step, changed = inner, true
				continue
			}
		}
		if len(words) > 3 && words[0] == "docker" && words[1] == "compose" && (words[2] == "exec" || words[2] == "run") {
			if args := plainArguments(words[3:]); len(args) > 1 { // behind the name of the service
				step, changed = strings.Join(words[3+slices.Index(words[3:], args[0])+1:], " "), true
				continue
			}
		}
		for _, r := range runners {
			if len(words) <= len(r) || strings.Join(words[:len(r)], " ") != strings.Join(r, " ") {
				continue
			}
			rest := words[len(r):]
			for len(rest) > 1 && strings.HasPrefix(rest[0], "-") {
				rest = rest[1:]
			}
			step, changed = strings.Join(rest, " "), true
			break
		}
	}
	return step
}

// vcs reports whether a step is one of version control or of its host.
func vcs(key string) bool {
	program, _, _ := strings.Cut(key, " ")
	switch program {
	case "git", "gh", "glab", "jj", "hg":
		return true
	}
	return false
}

// routine reports whether a step is one that every change takes anywhere:
// version control, formatting, installing what is needed.
func routine(key string) bool {
	if vcs(key) {
		return true
	}
	for w := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == ' ' || r == ':' || r == '-' }) {
		switch w {
		case "fmt", "format", "prettier", "gofmt", "black", "install", "add", "ci", "sync":
			return true
		}
	}
	return false
}
