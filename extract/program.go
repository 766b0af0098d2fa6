package extract

import (
	"path"
	"strings"
	"sync"
)

// Programs by what they are for, when the first argument does not say.
var programUse = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for use, names := range map[string]string{
		forTest:    "pytest vitest jest mocha ava tap phpunit rspec bats ctest gotestsum cypress nextest behave minitest busted hspec pester",
		forLint:    "eslint tsc mypy pyright basedpyright flake8 pylint golangci-lint staticcheck shellcheck hadolint actionlint yamllint markdownlint stylelint rubocop clippy-driver ktlint detekt swiftlint credo phpstan psalm oxlint semgrep gosec govulncheck vet tflint ansible-lint vale codespell typos cargo-deny knip lefthook pre-commit",
		forFormat:  "gofmt goimports gofumpt prettier black isort shfmt rustfmt clang-format stylua autopep8 yapf taplo dprint buf-format swiftformat ormolu",
		forBuild:   "ninja cmake bazel buck2 meson gcc g++ clang clang++ rustc javac webpack rollup esbuild vite tsup xcodebuild protoc sphinx-build mkdocs hugo jekyll zola goreleaser wasm-pack scons",
		forRelease: "semantic-release release-it changeset np twine vsce wrangler vercel netlify flyctl fly sls",
		forRun:     "uvicorn gunicorn flask rails nodemon foreman honcho overmind storybook streamlit playwright",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = use
		}
	}
	return m
})

// Programs whose first argument says what they do. A word that is not listed
// makes the command not worth remembering, except where "*" says otherwise;
// the value "target" reads the use off the argument itself.
var subcommandUse = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"go":        {"test": forTest, "build": forBuild, "vet": forLint, "fmt": forFormat, "run": forRun, "generate": forBuild, "install": forInstall, "mod": forInstall, "get": forInstall, "tool": forRun},
		"cargo":     {"test": forTest, "nextest": forTest, "bench": forTest, "build": forBuild, "check": forLint, "clippy": forLint, "fmt": forFormat, "run": forRun, "install": forInstall, "update": forInstall, "add": forInstall, "publish": forRelease, "release": forRelease, "deny": forLint, "audit": forLint, "doc": forBuild, "insta": forTest, "llvm-cov": forTest, "machete": forLint, "hack": forLint, "xtask": forRun, "fix": forFormat},
		"rustup":    {"toolchain": forInstall, "component": forInstall, "target": forInstall, "update": forInstall},
		"dotnet":    {"test": forTest, "build": forBuild, "run": forRun, "restore": forInstall, "format": forFormat, "publish": forRelease, "pack": forRelease},
		"swift":     {"test": forTest, "build": forBuild, "run": forRun, "package": forInstall},
		"zig":       {"build": forBuild, "test": forTest, "fmt": forFormat, "run": forRun},
		"mix":       {"test": forTest, "compile": forBuild, "format": forFormat, "credo": forLint, "deps.get": forInstall, "dialyzer": forLint, "*": "target"},
		"deno":      {"test": forTest, "lint": forLint, "fmt": forFormat, "check": forLint, "run": forRun, "task": "target", "compile": forBuild},
		"flutter":   {"test": forTest, "build": forBuild, "analyze": forLint, "run": forRun, "pub": forInstall},
		"dart":      {"test": forTest, "analyze": forLint, "format": forFormat, "run": forRun, "pub": forInstall, "compile": forBuild},
		"ruff":      {"check": forLint, "format": forFormat},
		"biome":     {"check": forLint, "lint": forLint, "format": forFormat, "ci": forLint},
		"terraform": {"plan": forRun, "apply": forRelease, "validate": forLint, "fmt": forFormat, "init": forInstall, "test": forTest},
		"tofu":      {"plan": forRun, "apply": forRelease, "validate": forLint, "fmt": forFormat, "init": forInstall, "test": forTest},
		"kubectl":   {"apply": forRelease, "rollout": forRelease},
		"helm":      {"lint": forLint, "template": forBuild, "upgrade": forRelease, "install": forRelease},
		"docker":    {"build": forBuild, "run": forRun, "compose": "target", "buildx": forBuild, "push": forRelease},
		"podman":    {"build": forBuild, "run": forRun, "compose": "target", "push": forRelease},
		"nix":       {"build": forBuild, "flake": forLint, "develop": forRun, "run": forRun, "fmt": forFormat},
		"dune":      {"build": forBuild, "test": forTest, "runtest": forTest, "fmt": forFormat, "exec": forRun},
		"stack":     {"build": forBuild, "test": forTest, "run": forRun},
		"cabal":     {"build": forBuild, "test": forTest, "run": forRun},
		"buf":       {"lint": forLint, "generate": forBuild, "build": forBuild, "format": forFormat, "breaking": forLint},
		"pip":       {"install": forInstall},
		"pip3":      {"install": forInstall},
		"brew":      {"install": forInstall, "upgrade": forInstall, "bundle": forInstall},
		"apt":       {"install": forInstall},
		"apt-get":   {"install": forInstall},
		"dnf":       {"install": forInstall},
		"apk":       {"add": forInstall},
		"gem":       {"install": forInstall, "push": forRelease, "build": forBuild},
		"composer":  {"install": forInstall, "require": forInstall, "update": forInstall, "test": forTest, "*": "target"},
		"bazel":     {"test": forTest, "build": forBuild, "run": forRun},
		"npm":       {"test": forTest, "t": forTest, "run": "script", "run-script": "script", "ci": forInstall, "install": forInstall, "i": forInstall, "start": forRun, "publish": forRelease, "version": forRelease, "audit": forLint, "pack": forRelease, "link": forInstall, "exec": "wrap"},
		"pnpm":      {"run": "script", "install": forInstall, "i": forInstall, "add": forInstall, "exec": "wrap", "dlx": "wrap", "publish": forRelease, "list": "", "ls": "", "why": "", "view": "", "config": "", "store": "", "*": "target"},
		"yarn":      {"run": "script", "install": forInstall, "add": forInstall, "dlx": "wrap", "exec": "wrap", "info": "", "why": "", "list": "", "config": "", "workspace": "target", "*": "target"},
		"bun":       {"run": "script", "test": forTest, "install": forInstall, "i": forInstall, "add": forInstall, "x": "wrap", "build": forBuild, "publish": forRelease, "pm": "", "*": "target"},
		"uv":        {"run": "wrap", "sync": forInstall, "pip": forInstall, "add": forInstall, "lock": forInstall, "build": forBuild, "publish": forRelease, "tool": forInstall},
		"poetry":    {"run": "wrap", "install": forInstall, "add": forInstall, "lock": forInstall, "build": forBuild, "publish": forRelease},
		"pdm":       {"run": "wrap", "install": forInstall, "add": forInstall},
		"hatch":     {"run": "wrap", "test": forTest, "build": forBuild, "fmt": forFormat},
		"bundle":    {"exec": "wrap", "install": forInstall},
		"mise":      {"run": "script", "r": "script", "x": "wrap", "exec": "wrap", "install": forInstall, "trust": forInstall},
		"make":      {"*": "target"},
		"gmake":     {"*": "target"},
		"just":      {"*": "target"},
		"task":      {"*": "target"},
		"rake":      {"*": "target"},
		"tox":       {"*": forTest},
		"nox":       {"*": forTest},
		"turbo":     {"run": "script", "*": "target"},
		"nx":        {"run": "script", "affected": "target", "*": "target"},
		"lerna":     {"run": "script", "publish": forRelease, "version": forRelease},
		"gradle":    {"*": "target"},
		"gradlew":   {"*": "target"},
		"mvn":       {"*": "target"},
		"mvnw":      {"*": "target"},
		"sbt":       {"*": "target"},
		"lein":      {"*": "target"},
		"git":       {"checkout": "branch", "commit": forVCS, "push": forVCS, "merge": forVCS, "tag": forVCS, "cherry-pick": forVCS, "rebase": forVCS, "pull": forVCS, "switch": forVCS},
		"gh":        {"pr": "gh", "release": "gh", "issue": "gh", "workflow": "gh", "discussion": "gh"},
		"glab":      {"mr": "gh", "release": "gh"},
	}
})

// readers only look at things, arrange files or wait: never worth remembering.
var readers = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`ls cat sed awk gawk grep egrep fgrep rg ag ack find fd head tail wc sort uniq cut tr echo printf pwd cd which
		whereis type file stat du df ps top kill pkill killall pgrep sleep wait true false test [ date env export set unset source . mkdir rmdir cp mv rm ln
		chmod chown touch tee xargs diff cmp comm patch less more man history clear open code vim vi nano emacs jq yq curl wget tree bat base64 sha256sum
		shasum md5 md5sum hexdump xxd od strings lsof netstat ss ping dig host nslookup ssh scp rsync tmux screen osascript defaults read seq whoami id
		uname sw_vers nproc sysctl plutil tar zip unzip gzip gunzip basename dirname realpath readlink mktemp alias declare local return exit eval trap
		printenv command column paste nl rev fold expand iconv sqlite3 psql mysql redis-cli perl say pbcopy pbpaste zcat getconf ulimit umask yes watch`) {
		m[name] = true
	}
	return m
})

// classify names a command's family and what it is for; the use is empty for a
// command that is not worth remembering.
func classify(words []string) (family, use string) {
	program := unquote(words[0])
	base := path.Base(program)
	args := words[1:]
	if asksAbout(args) {
		return "", ""
	}
	switch {
	case base == "" || readers()[base] || strings.ContainsAny(program, "$*=(){}<>"):
		return "", ""
	case base == "npx" || base == "bunx" || base == "uvx" || base == "pipx":
		return wrapped(base, args)
	case interpreter(base):
		return interpreted(base, args)
	}
	if sub, ok := subcommandUse()[base]; ok {
		return subcommand(base, args, sub)
	}
	if use := programUse()[base]; use != "" {
		return base, use
	}
	if strings.Contains(program, "/") && !strings.HasPrefix(program, "/") && !strings.HasPrefix(program, "~") && !strings.HasPrefix(program, "../") {
		return program, target(base)
	}
	return "", ""
}

// asksAbout reports whether a program is only asked for its version or help.
func asksAbout(args []string) bool {
	for i, w := range args {
		switch w {
		case "--version", "-V", "--help", "-h":
			return len(args) <= 4
		case "version", "help":
			return i == 0 && len(args) == 1
		case "--":
			return false
		}
	}
	return false
}

func subcommand(base string, args []string, sub map[string]string) (family, use string) {
	word, rest := next(args)
	if word == "" {
		if base == "make" || base == "just" || base == "tox" || base == "nox" || base == "yarn" {
			return base, forBuild
		}
		return "", ""
	}
	use, ok := sub[word]
	if !ok {
		use = sub["*"]
	}
	family = base + " " + word
	switch first, _ := next(rest); first {
	case "init", "create", "list": // done once, or only looks
		if use == forInstall || use == forRun {
			return "", ""
		}
	}
	switch use {
	case "script":
		name, _ := next(rest)
		if name == "" {
			return "", ""
		}
		return family + " " + name, target(name)
	case "target":
		if strings.ContainsAny(word, "=$") {
			return "", ""
		}
		if word == "compose" || word == "task" || word == "workspace" || word == "affected" {
			name, more := next(rest)
			if word == "workspace" {
				name, _ = next(more)
			}
			switch name {
			case "", "ps", "logs", "config", "ls":
				return "", ""
			}
			return family + " " + name, target(name)
		}
		return family, target(word)
	case "wrap":
		return wrapped(family, rest)
	case "branch": // a new one, from another: the beginning of a piece of work
		if rewriting(append([]string{base}, args...)) != "" {
			return family, forVCS
		}
		return "", ""
	case "gh":
		verb, _ := next(rest)
		switch verb {
		case "create", "edit", "merge", "upload", "run", "comment", "review":
			return family + " " + verb, forVCS
		}
		return "", ""
	}
	return family, use
}

// wrapped classifies a command that another one runs: npx, uv run, mise x … --.
func wrapped(prefix string, args []string) (family, use string) {
	for i, w := range args {
		if w == "--" {
			args = args[i+1:]
			break
		}
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	if len(args) == 0 {
		return "", ""
	}
	if asksAbout(args[1:]) {
		return "", ""
	}
	name := unquote(args[0])
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		args = append([]string{name[:at]}, args[1:]...)
	}
	family, use = classify(args)
	if use == "" && interpreter(path.Base(unquote(args[0]))) {
		return "", ""
	}
	if use == "" {
		if verb, _ := next(args[1:]); verb == "view" || verb == "info" || verb == "show" || verb == "list" || verb == "ls" || verb == "search" {
			return "", ""
		}
		if readers()[path.Base(name)] || strings.ContainsAny(name, "$*=(){}<>") {
			return "", ""
		}
		return prefix + " " + name, target(path.Base(name))
	}
	return prefix + " " + family, use
}

func interpreter(base string) bool {
	switch base {
	case "node", "ruby", "php", "tsx", "ts-node", "bash", "sh", "zsh":
		return true
	}
	return strings.HasPrefix(base, "python")
}

// interpreted classifies a script that an interpreter runs: only files of the
// repository and modules count, one-off code does not.
func interpreted(base string, args []string) (family, use string) {
	for i, w := range args {
		switch {
		case w == "-m" && i+1 < len(args):
			module := unquote(args[i+1])
			if use := programUse()[module]; use != "" {
				return base + " -m " + module, use
			}
			switch module {
			case "pip":
				return base + " -m pip", forInstall
			case "unittest":
				return base + " -m unittest", forTest
			case "build":
				return base + " -m build", forBuild
			case "json", "json.tool", "http.server", "timeit", "venv":
				return "", ""
			}
			return base + " -m " + module, target(module)
		case w == "--test":
			return base + " --test", forTest
		case w == "--check" && base == "node":
			return base + " --check", forLint
		case strings.HasPrefix(w, "-"):
			if w == "-" || w == "-c" || w == "-e" || w == "-p" || w == "--eval" || w == "-r" || w == "-n" || w == "-lc" {
				return "", ""
			}
		default:
			file := unquote(w)
			if strings.HasPrefix(file, "/") || strings.HasPrefix(file, "~") || strings.HasPrefix(file, "..") || strings.ContainsAny(file, "$*`") {
				return "", ""
			}
			return base + " " + file, target(path.Base(file))
		}
	}
	return "", ""
}
