package extract

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// The purposes of a command, in the words that Phase 2 reads.
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

// purposeWords are the words that tell a purpose where they name a program, a
// subcommand, a script or a target, alone or as a part ("test:e2e", "lint-fix").
var purposeWords = sync.OnceValue(func() map[string]string {
	return byWord(map[string]string{
		forTest: "test tests spec e2e unittest nextest runtest pytest vitest jest mocha rspec " +
			"ctest phpunit bats gotestsum tox nox behave playwright cypress",
		forLint: "lint eslint clippy ruff pylint flake8 rubocop shellcheck golangci-lint staticcheck " +
			"hadolint yamllint stylelint oxlint ktlint actionlint pre-commit",
		forFormat:   "fmt format gofmt goimports gofumpt prettier black rustfmt shfmt isort stylua",
		forCheck:    "check typecheck type-check vet verify validate tsc tsgo mypy pyright audit analyze",
		forBuild:    "build compile bundle assemble cmake ninja webpack rollup esbuild",
		forGenerate: "generate codegen gen render protoc",
		forRelease:  "release publish deploy goreleaser version bump",
		forSetup:    "install setup sync bootstrap restore ci",
		forRun:      "run start dev serve exec",
	})
})

// drivers are the programs whose first word says what they do. The value lists the
// words that count; "*" lets any word count, as a target or script of the project, and
// the words behind "!" never count.
var drivers = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for name, list := range map[string]string{
		"go":        "test build vet fmt generate run install",
		"cargo":     "test nextest build check clippy fmt run publish audit install",
		"dotnet":    "test build run format restore publish",
		"swift":     "test build run",
		"zig":       "test build fmt run",
		"mix":       "test compile format",
		"deno":      "test lint fmt check compile",
		"flutter":   "test build analyze run",
		"dart":      "test analyze format run compile",
		"ruff":      "check format",
		"biome":     "check lint format ci",
		"terraform": "validate fmt test",
		"buf":       "lint generate build format",
		"npm":       "test ci install start publish audit",
		"pnpm":      "* ! add remove list ls why view config store outdated info exec dlx link",
		"yarn":      "* ! add remove list why info config dlx exec workspace init link",
		"bun":       "* ! add remove pm x init link",
		"uv":        "sync build publish",
		"poetry":    "install build publish",
		"bundle":    "install",
		"composer":  "install test",
		"make":      "*", "gmake": "*", "just": "*", "task": "*", "rake": "*", "gradle": "*", "gradlew": "*",
		"mvn": "*", "mvnw": "*",
		"bazel": "test build run", "sbt": "*", "turbo": "*", "nx": "*", "pre-commit": "run",
		"lefthook": "run", "hk": "check fix",
		"docker": "build",
	} {
		out[name] = strings.Fields(list)
	}
	return out
})

// scriptRunners run a script of the project that the word behind theirs names.
var scriptRunners = map[string]bool{
	"npm run": true, "npm run-script": true, "pnpm run": true, "yarn run": true, "bun run": true,
	"mise run": true, "mise r": true,
	"deno task": true, "turbo run": true, "nx run": true, "composer run": true, "poe": true,
}

// launchers run the program that stands behind them.
var launchers = map[string]bool{
	"npx": true, "bunx": true, "uvx": true, "npm exec": true, "pnpm exec": true, "pnpm dlx": true,
	"yarn exec": true, "yarn dlx": true,
	"bun x": true, "uv run": true, "poetry run": true, "pdm run": true, "hatch run": true, "bundle exec": true,
	"mise x": true, "mise exec": true,
}

// projectLaunchers run what is installed for the project alone, its own programs among it.
var projectLaunchers = map[string]bool{"uv run": true, "poetry run": true, "pdm run": true, "hatch run": true,
	"bundle exec": true}

func byWord(lists map[string]string) map[string]string {
	out := map[string]string{}
	for value, list := range lists {
		for w := range strings.FieldsSeq(list) {
			out[w] = value
		}
	}
	return out
}

// purpose tells what a command is for and its head, the words that name what it runs;
// both are empty for a command that is not worth remembering.
func (r *run) purpose() (purpose, head string) {
	if asksAbout(r.args) || strings.ContainsAny(r.program, "$*{}()=") {
		return "", ""
	}
	return classify(append([]string{r.program}, r.args...))
}

func classify(words []string) (purpose, head string) {
	if len(words) == 0 {
		return "", ""
	}
	base := path.Base(words[0])
	first, rest := firstWord(words[1:])
	two := base + " " + first
	switch {
	case launchers[base]:
		return launched(base, words[1:])
	case launchers[two]:
		return launched(two, rest)
	case scriptRunners[base] && first != "":
		return orRun(wordPurpose(first)), two
	case scriptRunners[two]:
		if name, _ := firstWord(rest); name != "" {
			return orRun(wordPurpose(name)), two + " " + name
		}
		return "", ""
	case drivers()[base] != nil:
		return driven(base, first)
	case interprets(base):
		return interpreted(base, words[1:])
	case projectFile(words[0]):
		return orRun(wordPurpose(base)), words[0]
	}
	return purposeWords()[base], base
}

// driven classifies a program by the word that tells it what to do.
func driven(base, word string) (purpose, head string) {
	list := drivers()[base]
	if word == "" {
		if slices.Contains(list, "*") && (base == "make" || base == "just" || base == "rake") {
			return forBuild, base
		}
		return "", ""
	}
	if strings.ContainsAny(word, "=$/*") {
		return "", ""
	}
	if list[0] == "*" {
		if slices.Contains(list, word) {
			return "", ""
		}
		return orRun(wordPurpose(word)), base + " " + word
	}
	if !slices.Contains(list, word) {
		return "", ""
	}
	return orRun(wordPurpose(word)), base + " " + word
}

// launched classifies the command behind a launcher, from its "--" on if it has one.
func launched(launcher string, words []string) (purpose, head string) {
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[i+1:]
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	purpose, head = classify(words)
	if purpose == "" && projectLaunchers[launcher] && len(words) > 0 && !viewers[words[0]] &&
		drivers()[words[0]] == nil && !interprets(words[0]) {
		verb, _ := firstWord(words[1:])
		purpose, head = forRun, strings.TrimSpace(words[0]+" "+verb)
	}
	if purpose == "" {
		return "", ""
	}
	return purpose, launcher + " " + head
}

func interprets(base string) bool {
	return strings.HasPrefix(base, "python") || base == "node" || base == "bash" || base == "sh" ||
		base == "ruby" || base == "tsx"
}

// interpreted classifies a script or module that an interpreter runs. Code on the
// command line or on standard input is not worth remembering.
func interpreted(base string, args []string) (purpose, head string) {
	for i, w := range args {
		switch {
		case w == "-m" && i+1 < len(args):
			return wordPurpose(args[i+1]), base + " -m " + args[i+1]
		case w == "--test":
			return forTest, base + " --test"
		case w == "-n" && base != "node":
			return "", ""
		case strings.HasPrefix(w, "-") && (len(w) == 1 || strings.ContainsAny(w[1:2], "cepr") || w == "-lc"):
			return "", ""
		case strings.HasPrefix(w, "-"):
		case projectFile(w) || strings.Contains(w, ".") && !strings.ContainsAny(w, "$*`~/"):
			return orRun(wordPurpose(path.Base(w))), base + " " + w
		default:
			return "", ""
		}
	}
	return "", ""
}

// projectFile reports whether a word is a relative path below the directory.
func projectFile(w string) bool {
	return strings.Contains(w, "/") && !strings.HasPrefix(w, "/") && !strings.HasPrefix(w, "~") &&
		!strings.HasPrefix(w, "..") && !strings.ContainsAny(w, "$*`:{") && !strings.Contains(w, "tmp/")
}

// wordPurpose tells a purpose from a word or from one of the parts that a script's
// name is made of; empty if it tells none.
func wordPurpose(w string) string {
	w = strings.ToLower(w)
	if p := purposeWords()[w]; p != "" {
		return p
	}
	for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune(":-_./", r) }) {
		if p := purposeWords()[part]; p != "" {
			return p
		}
	}
	return ""
}

func orRun(purpose string) string {
	if purpose == "" {
		return forRun
	}
	return purpose
}

// firstWord returns the first word that is not an option, and what follows it.
func firstWord(words []string) (string, []string) {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") {
			return w, words[i+1:]
		}
	}
	return "", nil
}

// asksAbout reports whether a program is only asked for its version or help.
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
