package consolidate

import (
	"path"
	"slices"
	"strings"
)

// purposes are what commands are for, in the order in which a person needs them,
// with the words that tell.
var purposes = []struct {
	name  string
	words []string // beginnings of words of the command
}{
	{"build", []string{"build", "compile", "bundle", "assemble"}},
	{"test", []string{"test", "pytest", "bats", "vitest", "jest", "spec", "e2e", "ctest", "nextest", "playwright", "rspec"}},
	{"lint", []string{"lint", "clippy", "vet", "check", "eslint", "ruff", "tsc", "typecheck", "mypy", "golangci", "staticcheck"}},
	{"format", []string{"fmt", "format", "prettier", "gofmt", "black", "rustfmt"}},
	{"run", []string{"run", "start", "serve", "server", "dev", "up", "preview"}},
	{"release", []string{"release", "publish", "deploy", "dist"}},
}

// purpose names what a command is for; empty if its words do not tell.
func (c *claim) purpose() string {
	name, _, _ := splitCommand(c.text)
	return purposeOf(name)
}

func purposeOf(name string) string {
	var said []string // the task, or the program and what it is told to do
	if _, task := taskOf(name); task != "" {
		said = []string{task}
	} else if all := strings.Fields(unwrapped(name)); len(all) > 0 {
		said = append(said, path.Base(all[0]))
		for _, w := range plainArguments(all[1:]) {
			if len(said) == 3 || strings.ContainsAny(w, `/"'$=`) {
				break
			}
			said = append(said, w)
		}
		if said[0] == "cmake" && strings.Contains(name, " --build") {
			said = []string{"build"}
		}
	}
	var words []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(strings.Join(said, " ")), func(r rune) bool { return strings.ContainsRune(" :-_/.", r) }) {
		words = append(words, w)
	}
	// A check of the format checks, a test of the build tests.
	for _, i := range []int{2, 3, 1, 5, 0, 4} {
		p := purposes[i]
		for _, w := range words {
			if slices.ContainsFunc(p.words, func(begin string) bool { return w == begin || len(begin) > 3 && strings.HasPrefix(w, begin) }) {
				return p.name
			}
		}
	}
	return ""
}

// preferred takes of commands, which come by their use, one for each purpose, and
// fills up with the next of those most in use, in the order of the purposes. A check
// of the format is not what formats.
func preferred(commands []*claim, most int) []*claim {
	of := map[string][]*claim{}
	var first, rest []*claim
	for _, c := range commands {
		name, _, _ := splitCommand(c.text)
		if elsewhere(c.text) != "" || vcs(stepKey(name)) || scratch(name) {
			continue
		}
		p := c.purpose()
		if p == "" {
			rest = append(rest, c)
			continue
		}
		of[p] = append(of[p], c)
	}
	for _, p := range purposes {
		list := of[p.name]
		slices.SortStableFunc(list, func(a, b *claim) int { return checksFormat(a) + narrow(a) - checksFormat(b) - narrow(b) })
		if len(list) > 0 {
			first = append(first, list[0])
			if p.name != "format" {
				rest = append(rest, list[1:]...)
			}
		}
	}
	slices.SortStableFunc(rest, func(a, b *claim) int { return slices.Index(commands, a) - slices.Index(commands, b) })
	taken := map[string]int{}
	for _, c := range rest {
		if len(first) >= most {
			break
		}
		if p := c.purpose(); p != "" {
			// beside the one that is preferred: one more, that is no less known
			if len(c.from) == 1 && len(of[p][0].from) > 1 || taken[p] > 0 {
				continue
			}
			taken[p]++
		}
		first = append(first, c)
	}
	at := func(c *claim) int {
		for i, p := range purposes {
			if p.name == c.purpose() {
				return i
			}
		}
		return len(purposes)
	}
	slices.SortStableFunc(first, func(a, b *claim) int { return at(a) - at(b) })
	return first[:min(most, len(first))]
}

// checksFormat is 1 for a command that only looks whether files are formatted.
func checksFormat(c *claim) int {
	if c.purpose() == "format" && strings.Contains(c.text, "--check") {
		return 1
	}
	return 0
}

// narrow is 1 for a command that names a toolchain, a target or a part of the project:
// of two for one purpose the other is the usual one.
func narrow(c *claim) int {
	name, _, _ := splitCommand(c.text)
	for _, w := range []string{" +", " -p ", " --package ", " --package=", " --target ", " --target="} {
		if strings.Contains(name, w) {
			return 1
		}
	}
	return 0
}

// scratch reports whether a command is of one machine or one moment.
func scratch(name string) bool {
	return strings.Contains(name, "/tmp/") || strings.Contains(name, "/Users/") || strings.Contains(name, "/home/")
}

// use is a command as the briefing names it: what it is for, and what it runs. How
// often it ran is of no use there.
func (c *claim) use() string {
	name, _, _ := splitCommand(c.text)
	text := codeSpan(name)
	if _, example, ok := strings.Cut(c.text, ", e.g. `"); ok {
		text += ", e.g. `" + example
	}
	if note := commandNote(c.text); note != "" {
		text += " (" + strings.TrimPrefix(note, " — ") + ")"
	}
	if p := c.purpose(); p != "" {
		return p + ": " + text
	}
	return text
}
