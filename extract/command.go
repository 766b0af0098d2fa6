package extract

import (
	"cmp"
	"path"
	"strings"
	"sync"
)

// What a command is for.
const (
	forTest    = "test"
	forBuild   = "build"
	forLint    = "lint"
	forFormat  = "format"
	forRun     = "run"
	forInstall = "install"
	forRelease = "release"
	forVCS     = "vcs" // a step of a procedure, never a command worth listing
)

// A command is one simple command worth remembering, normalised: without
// directory changes to the repository itself, assignments, redirections,
// filters behind a pipe, noise flags and the repository's absolute path.
type command struct {
	text   string
	prefix string // assignments and sudo in front, where they change what it does
	family string // program and subcommand: what two runs of "the same" command share
	use    string // one of the for… constants
	place  string // the other repository that it ran in, empty for the session's own
	masked bool   // its exit status is not that of the command line
	part   int    // index of the simple command in the line that it was made of
}

// full is the command as one would type it.
func (c command) full() string {
	if c.prefix == "" {
		return c.text
	}
	if strings.HasPrefix(c.text, "cd ") {
		if dir, rest, ok := strings.Cut(c.text, " && "); ok {
			return dir + " && " + c.prefix + " " + rest
		}
	}
	return c.prefix + " " + c.text
}

// parseCommands finds the commands worth remembering in a command line that ran
// in cwd, for a repository at root.
func parseCommands(line, cwd, root string) []command {
	if len(line) > 8<<10 {
		line = line[:8<<10]
	}
	parts := splitShell(line)
	if len(parts) == 1 {
		if inner, ok := shellArgument(parts[0].words); ok {
			return parseCommands(inner, cwd, root)
		}
	}
	var out []command
	dirs := directories(parts, cmp.Or(cwd, root))
	for i, s := range parts {
		if s.script || i > 0 && parts[i-1].after == "|" {
			continue
		}
		c, ok := normalise(s.words, root)
		if !ok {
			continue
		}
		c.masked = masked(parts[i:]) && !(strings.Contains(line, "pipefail") && piped(parts[i:]))
		c.prefix, c.part = prefix(s.before), i
		switch at := relative(dirs[i], root); {
		case temporary(at):
			continue
		case strings.HasPrefix(at, "/") || strings.HasPrefix(at, ".."):
			c.place = path.Base(path.Clean(dirs[i]))
		case at == "." || at == "" || c.use == forVCS:
		default:
			c.text = "cd " + at + " && " + c.text
		}
		out = append(out, c)
	}
	return out
}

// maxDirectory is how many bytes the path of a directory has at most.
const maxDirectory = 1 << 10

// directories are where the simple commands of a line run, by the cd in front of
// each; a subshell gives back the directory that it began in.
func directories(parts []simple, dir string) []string {
	out := make([]string, len(parts))
	var outer []string
	closing := 0
	for i, s := range parts {
		for ; closing > 0 && len(outer) > 0; closing-- {
			dir, outer = outer[len(outer)-1], outer[:len(outer)-1]
		}
		for range s.opens {
			outer = append(outer, dir)
		}
		closing = s.closes
		out[i] = dir
		if name := unquote(s.words[0]); (name != "cd" && name != "pushd") || len(s.words) < 2 {
			continue
		}
		target := unquote(s.words[1])
		if len(dir)+len(target) > maxDirectory {
			continue
		}
		if strings.HasPrefix(target, "/") {
			dir = target
		} else if !strings.HasPrefix(target, "~") && !strings.Contains(target, "$") && target != "-" {
			dir = path.Join(dir, target)
		}
	}
	return out
}

// temporary reports whether a directory is one of those that a system empties.
func temporary(dir string) bool {
	for _, t := range []string{"/tmp", "/private/tmp", "/var/folders", "/private/var", "/var/tmp"} {
		if dir == t || strings.HasPrefix(dir, t+"/") {
			return true
		}
	}
	return false
}

// masked reports whether the status of a command line hides that of its first
// command: behind a pipe, a semicolon or an alternative.
func masked(parts []simple) bool {
	for i, s := range parts[:len(parts)-1] {
		if s.after == "&&" || i > 0 && s.after == "|" {
			continue
		}
		return true
	}
	return false
}

// piped reports whether pipes are all that stands behind a command, or runs only
// if it succeeds.
func piped(parts []simple) bool {
	for _, s := range parts[:len(parts)-1] {
		if s.after != "|" && s.after != "&&" {
			return false
		}
	}
	return true
}

// shellArgument returns the command line inside `bash -lc '…'`.
func shellArgument(words []string) (string, bool) {
	if len(words) < 3 {
		return "", false
	}
	switch path.Base(unquote(words[0])) {
	case "bash", "sh", "zsh":
	default:
		return "", false
	}
	for i, w := range words[1 : len(words)-1] {
		if strings.HasPrefix(w, "-") && strings.HasSuffix(w, "c") && !strings.HasPrefix(w, "--") {
			return unquote(words[i+2]), true
		}
	}
	return "", false
}

// prefix renders what stands in front of a command, as far as it changes what the
// command does rather than how its output looks.
func prefix(before []string) string {
	var out []string
	for _, w := range before {
		if w == "sudo" {
			out = append(out, w)
			continue
		}
		name, value, _ := strings.Cut(w, "=")
		if idle()[name] || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "HOMEBREW_") || len(value) > 60 || strings.ContainsAny(value, "$`\n") {
			continue
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// idle variables change how a program prints, or hold what differs between machines.
var idle = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TERM PAGER GIT_PAGER GH_PAGER PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE
		CARGO_TERM_COLOR DEBIAN_FRONTEND LANG COLUMNS LINES PATH HOME TMPDIR TMP TEMP PWD GIT_EDITOR EDITOR VISUAL NODE_NO_WARNINGS TZ SHELL USER GIT_TERMINAL_PROMPT`) {
		m[w] = true
	}
	return m
})

// noise flags change what is printed, not what is done.
var noise = map[string]bool{
	"--quiet": true, "--silent": true, "--verbose": true, "--no-color": true, "--no-colors": true, "--color": true,
	"--no-progress": true, "--no-pager": true, "--color=never": true, "--color=always": true, "--color=auto": true,
}

// normalise renders one simple command, if it is worth remembering.
func normalise(words []string, root string) (command, bool) {
	words = append([]string(nil), words...)
	for i, w := range words {
		if root != "" && strings.Contains(w, root) {
			w = strings.ReplaceAll(w, root+"/", "")
			words[i] = strings.ReplaceAll(w, root, ".")
		}
	}
	words = withoutHelp(words)
	if step := hostStep(words); step != "" {
		return command{text: step, family: step, use: forVCS}, true
	}
	family, use := classify(words)
	if use == "" {
		return command{}, false
	}
	if use == forVCS {
		return command{text: family + rewriting(words), family: family, use: use}, true
	}
	kept := words[:1]
	for _, w := range words[1:] {
		if noise[w] || (w == "-q" || w == "-v") && (strings.HasPrefix(family, "go ") || strings.HasPrefix(family, "cargo ")) {
			continue
		}
		kept = append(kept, w)
	}
	text := strings.Join(strings.Fields(strings.Join(kept, " ")), " ")
	if len(text) > 200 || strings.Contains(text, "$(") || strings.ContainsAny(text, "`\n") {
		return command{}, false
	}
	return command{text: text, family: family, use: use}, true
}

// rewriting are the options of a step of version control without which it does
// something else: they change what was committed or published before, or say what
// the work begins from or goes to.
func rewriting(words []string) string {
	text := ""
	for i, w := range words[1:] {
		name, base, _ := strings.Cut(w, "=")
		switch name {
		case "--amend", "--force-with-lease", "--force", "--draft", "--comments":
			text += " " + name
		case "-b", "-B", "-c", "-C", "--create", "--force-create": // of a branch, which has another name each time
			if rest := words[i+2:]; (words[1] == "switch" || words[1] == "checkout") && len(rest) > 1 && trunk(rest[len(rest)-1]) {
				text += " " + name + " … " + rest[len(rest)-1]
			}
		case "--base":
			if rest := words[i+2:]; base == "" && len(rest) > 0 {
				base = rest[0]
			}
			if trunk(base) {
				text += " --base " + base
			}
		}
	}
	return text
}

// trunk reports whether a word is a branch that others begin from.
func trunk(w string) bool {
	name := w[strings.LastIndexByte(w, '/')+1:]
	return (name == w || strings.HasPrefix(w, "origin/") || strings.HasPrefix(w, "upstream/")) && (name == "main" || name == "master" || name == "develop" || name == "trunk" || name == "next" || name == "HEAD")
}

// withoutHelp drops the option that asks the repository's own program, run from
// its source, for help: that it starts is worth as much.
func withoutHelp(words []string) []string {
	last := len(words) - 1
	if last < 2 || words[last] != "--help" && words[last] != "-h" {
		return words
	}
	before := words[last-1]
	own := strings.Contains(before, "/") && looksLikeFile(before) && !strings.HasPrefix(before, "/") && !strings.HasPrefix(before, "..")
	if base := path.Base(words[0]); own && (base == "npx" || base == "bunx" || base == "uv" || base == "go" && words[1] == "run" || interpreter(base)) {
		return words[:last]
	}
	return words
}

// target classifies the name of a script, make target or task.
func target(name string) string {
	name = strings.ToLower(unquote(name))
	for _, t := range []struct {
		use   string
		parts string
	}{
		{forTest, "test spec e2e bats coverage bench"},
		{forFormat, "fmt format prettier lint-fix lint:fix"},
		{forLint, "lint check typecheck type-check clippy vet verify eslint audit tsc"},
		{forRelease, "release publish deploy version tag ship"},
		{forBuild, "build compile dist bundle generate codegen gen render package docs"},
		{forInstall, "install setup bootstrap deps ci"},
	} {
		for part := range strings.FieldsSeq(t.parts) {
			if i := strings.Index(name, part); i >= 0 && (i == 0 || !letter(name[i-1])) {
				return t.use
			}
		}
	}
	return forRun
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// next returns the first word that is no flag, and what follows it.
func next(words []string) (string, []string) {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") {
			return unquote(w), words[i+1:]
		}
	}
	return "", nil
}
