package consolidate

import (
	"path"
	"strings"
)

// runners run another command; they are no part of what a step does.
var runners = [][]string{
	{"uv", "run"}, {"uvx"}, {"poetry", "run"}, {"pdm", "run"}, {"hatch", "run"}, {"pipenv", "run"}, {"rye", "run"}, {"bundle", "exec"}, {"npx"}, {"bunx"}, {"pnpm", "exec"}, {"pnpm", "dlx"},
	{"yarn", "exec"}, {"yarn", "dlx"}, {"npm", "exec"}, {"sudo"}, {"direnv", "exec"}, {"dotenv"}, {"pipx", "run"}, {"time"},
}

// stepKey names what two runs of "the same step" share: the program and its
// subcommand, and with a task runner the task. What stands in front (directory,
// variables, runners) does not count.
func stepKey(step string) string {
	words := strings.Fields(unwrapped(step))
	var key []string
	for i, w := range words {
		if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "+") {
			continue
		}
		if i == 0 {
			key = append(key, path.Base(w))
			continue
		}
		if strings.ContainsAny(w, "/=\"'$") || len(key) == 1 && strings.Contains(w, ".") {
			break
		}
		key = append(key, w)
		if len(key) == 3 || len(key) == 2 && w != "run" && key[0] != "gh" && key[0] != "mise" {
			break
		}
	}
	return strings.Join(key, " ")
}

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
