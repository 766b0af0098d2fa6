package extract

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
)

// The purposes of commands; Phase 2 reads these words.
const (
	forTest     = "test"
	forLint     = "lint"
	forFormat   = "format"
	forCheck    = "check"
	forBuild    = "build"
	forGenerate = "generate"
	forRelease  = "release"
	forSetup    = "set up"
	forRun      = "run"
)

// purposeWords maps names of programs, subcommands, scripts and targets to purposes. A script
// or target may have the word as a part ("test:e2e", "lint-fix"). What only one program's subcommand means has its name
// ("npm_ci").
var purposeWords = byWord(map[string]string{
	forTest: "test tests spec e2e unittest nextest runtest pytest vitest jest mocha rspec " +
		"ctest phpunit bats gotestsum tox nox behave playwright cypress",
	forLint: "lint eslint clippy ruff pylint flake8 rubocop shellcheck golangci-lint staticcheck " +
		"hadolint yamllint stylelint oxlint ktlint actionlint pre-commit",
	forFormat:   "fmt format gofmt goimports gofumpt prettier black rustfmt shfmt isort stylua",
	forCheck:    "check typecheck type-check vet verify validate tsc tsgo mypy pyright audit analyze",
	forBuild:    "build compile bundle assemble cmake ninja webpack rollup esbuild",
	forGenerate: "generate codegen gen render protoc",
	forRelease:  "release publish deploy goreleaser version bump",
	forSetup:    "install setup sync bootstrap restore npm_ci pnpm_ci bun_ci",
	forRun:      "run start dev serve exec",
})

// A grammar is the position of the word that determines a command's purpose.
type grammar int

const (
	byName       grammar = iota // the name of the program itself
	bySubcommand                // the first word, if it is one of purposeWords
	byTarget                    // the first word, a target or script of the project
	byScript                    // the file or module that an interpreter runs
	byCommand                   // the command that a launcher starts
	byOwnCommand                // the same, including programs of the project
	byNothing                   // not worth remembering
)

// grammars maps programs to grammars, with their first word if that matters ("npm_run").
var grammars = byWord(map[grammar]string{
	bySubcommand: "go cargo dotnet swift zig mix deno flutter dart ruff biome terraform buf npm uv poetry bundle " +
		"composer bazel pre-commit lefthook docker",
	byTarget: "make gmake just task rake gradle gradlew mvn mvnw sbt turbo nx hk poe pnpm yarn bun " +
		"npm_run npm_run-script pnpm_run yarn_run bun_run mise_run mise_r deno_task turbo_run nx_run composer_run",
	byScript:     "python node bash sh ruby tsx",
	byCommand:    "npx bunx uvx npm_exec pnpm_exec pnpm_dlx yarn_exec yarn_dlx bun_x mise_x mise_exec",
	byOwnCommand: "uv_run poetry_run pdm_run hatch_run bundle_exec",
	byNothing:    "docker_run docker_start docker_exec",
})

// noTargets are the subcommands of programs with targets that manage packages or the program.
var noTargets = memoir.SetOf("add remove rm list ls why view config store outdated info pm init link workspace")

func byWord[T comparable](lists map[T]string) map[string]T {
	out := map[string]T{}
	for value, list := range lists {
		for w := range strings.FieldsSeq(list) {
			out[w] = value
		}
	}
	return out
}

// grammarOf returns the name and the grammar of a program with a first word. If the grammar
// depends on the word, the name includes it: "npm run".
func grammarOf(program, word string) (name string, g grammar) {
	program = path.Base(program)
	if g := grammars[program+"_"+word]; g != byName {
		return program + " " + word, g
	}
	return program, grammars[strings.TrimRight(program, "0123456789.")]
}

// purpose returns a command's purpose and its head, the words that name the program or script
// that runs; both are empty for a command that is not worth remembering.
func (r *run) purpose() (purpose, head string) {
	if asksAbout(r.args) || strings.ContainsAny(r.program, "$*{}()=") {
		return "", ""
	}
	purpose, head = classify(append([]string{r.program}, r.args...))
	_, checks := r.option("--check", "-check", "--dry-run", "--diff", "-diff", "--list-different")
	paths, lists := r.option("-l", "-d") // a number is the length of lines
	checks = checks || lists && strings.Trim(paths, "0123456789") != ""
	if _, writes := r.option("-w", "--write"); purpose == forFormat && checks && !writes {
		purpose = forCheck // it changes no file
	}
	return purpose, head
}

// Simple returns the simple commands of a command line, without redirections and wrappers such as sudo.
func Simple(line string) []string {
	runs, _ := newShellParser().parse(line, "")
	return memoir.Map(runs, func(r *run) string { return r.text })
}

func classify(words []string) (purpose, head string) {
	if len(words) == 0 {
		return "", ""
	}
	word, rest := firstWord(words[1:])
	name, g := grammarOf(words[0], word)
	if !strings.Contains(name, " ") {
		rest = words[1:]
	}
	switch g {
	case bySubcommand:
		if purpose = cmp.Or(purposeWords[name+"_"+word], purposeWords[word]); purpose == "" {
			return "", ""
		}
		return purpose, name + " " + word
	case byTarget:
		return targeted(name, rest)
	case byScript:
		return interpreted(name, rest)
	case byCommand, byOwnCommand:
		return launched(name, rest, g == byOwnCommand)
	case byNothing:
		return "", ""
	}
	if projectFile(words[0]) {
		return cmp.Or(wordPurpose(name), forRun), words[0]
	}
	return purposeWords[name], name
}

// targeted classifies a program by its target or script of the project.
func targeted(name string, words []string) (purpose, head string) {
	word, _ := firstWord(words)
	switch {
	case word == "" && (name == "make" || name == "just" || name == "rake"):
		return forBuild, name
	case word == "" || noTargets[word] || strings.ContainsAny(word, "=$/*"):
		return "", ""
	}
	return cmp.Or(purposeWords[name+"_"+word], wordPurpose(word), forRun), name + " " + word
}

// launched classifies the command that a launcher starts: the words after "--" if there is one.
func launched(launcher string, words []string, own bool) (purpose, head string) {
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[i+1:]
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	purpose, head = classify(words)
	if purpose == "" && own && len(words) > 0 && !viewers[words[0]] {
		verb, _ := firstWord(words[1:])
		if _, g := grammarOf(words[0], verb); g == byName {
			purpose, head = forRun, strings.TrimSpace(words[0]+" "+verb)
		}
	}
	if purpose == "" {
		return "", ""
	}
	return purpose, launcher + " " + head
}

// interpreted classifies a script or module that an interpreter runs. Code on the
// command line or on standard input is not worth remembering.
func interpreted(name string, args []string) (purpose, head string) {
	for i, w := range args {
		switch {
		case w == "-m" && i+1 < len(args):
			return wordPurpose(args[i+1]), name + " -m " + args[i+1]
		case w == "--test":
			return forTest, name + " --test"
		case w == "" || strings.HasPrefix(w, "--"):
		case w[0] != '-' && (projectFile(w) || strings.Contains(w, ".") && !strings.ContainsAny(w, "$*`~/")):
			return cmp.Or(wordPurpose(path.Base(w)), forRun), name + " " + w
		default:
			return "", ""
		}
	}
	return "", ""
}

// projectFile reports whether a word is a relative path below the working directory.
func projectFile(w string) bool {
	return strings.Contains(w, "/") && !strings.HasPrefix(w, "/") && !strings.HasPrefix(w, "~") &&
		!strings.HasPrefix(w, "..") && !strings.ContainsAny(w, "$*`:{") && !strings.Contains(w, "tmp/")
}

// wordPurpose returns the purpose of a word or of one of its parts; empty if it has none.
func wordPurpose(w string) string {
	w = strings.ToLower(w)
	if p := purposeWords[w]; p != "" {
		return p
	}
	for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune(":-_./", r) }) {
		if p := purposeWords[part]; p != "" {
			return p
		}
	}
	return ""
}

// firstWord returns the first word that is not an option, and the words after it.
func firstWord(words []string) (string, []string) {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") {
			return w, words[i+1:]
		}
	}
	return "", nil
}

// asksAbout reports whether the arguments only ask for a version, help or a list.
func asksAbout(args []string) bool {
	for i, w := range args {
		switch w {
		case "--version", "-V", "--help", "-h", "--list":
			return true
		case "version", "help", "list":
			return i == 0
		case "--":
			return false
		}
	}
	return false
}
