package extract

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// changers are programs and subcommands that change the state in which other
// commands run, beyond the code under work: what is checked out, installed,
// started, permitted or set. "*" stands for any subcommand.
var changers = sync.OnceValue(func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for program, subs := range map[string]string{
		"git":            "fetch checkout switch submodule pull merge rebase reset stash clean restore lfs apply config cherry-pick",
		"docker":         "start stop restart rm rmi run pull build volume network system login",
		"podman":         "start stop restart rm rmi run pull build volume network system machine login",
		"docker-compose": "up down start stop restart build pull rm",
		"compose":        "up down start stop restart build pull rm",
		"colima":         "start stop restart delete",
		"minikube":       "start stop delete",
		"kind":           "create delete load",
		"brew":           "install upgrade services link unlink tap reinstall",
		"systemctl":      "start stop restart enable reload daemon-reload",
		"service":        "*", "launchctl": "*", "pg_ctl": "*", "createdb": "*", "dropdb": "*", "redis-server": "*",
		"rm": "*", "mkdir": "*", "ln": "*", "chmod": "*", "chown": "*", "mv": "*", "cp": "*", "touch": "*",
		"kill": "*", "pkill": "*", "killall": "*",
		"export": "*", "unset": "*", "source": "*", ".": "*", "ulimit": "*",
		"nvm": "use install", "fnm": "use install", "volta": "install pin", "rbenv": "install local global rehash", "pyenv": "install local global shell",
		"asdf": "install local global set reshim", "sdk": "use install", "rustup": "update default override toolchain component target install self", "corepack": "enable prepare use",
		"direnv": "allow", "mise": "trust install use", "xcode-select": "*", "sdkmanager": "*", "pod": "install update",
		"alembic": "upgrade downgrade stamp", "flyway": "migrate clean repair", "prisma": "migrate generate db", "knex": "migrate:latest seed:run", "diesel": "migration setup database",
		"sqlx": "database migrate", "rails": "db:migrate db:create db:setup db:seed db:reset db:prepare db:test:prepare", "rake": "db:migrate db:create db:setup db:seed db:reset db:schema:load",
		"artisan": "migrate key:generate config:clear cache:clear", "manage.py": "migrate collectstatic loaddata", "mix": "ecto.create ecto.migrate ecto.reset ecto.setup deps.get deps.clean deps.compile clean local.hex",
		"terraform": "init workspace", "tofu": "init workspace", "kubectl": "apply create delete port-forward config rollout", "helm": "repo dependency install upgrade",
		"cargo": "clean update", "go": "clean mod", "gradle": "--stop clean", "gradlew": "--stop clean", "mvn": "clean install", "mvnw": "clean install",
		"dotnet": "restore clean tool workload", "swift": "package", "flutter": "clean pub", "dart": "pub", "bazel": "clean shutdown sync", "nx": "reset", "turbo": "clean", "ccache": "-C",
		"npm": "ci install i cache rebuild link login", "pnpm": "install i add rebuild store approve-builds", "yarn": "install add cache", "bun": "install i add", "pip": "install uninstall",
		"pip3": "install uninstall", "uv": "sync lock add venv pip python cache", "poetry": "install lock add env", "pdm": "install lock add", "conda": "install create activate env", "composer": "install update require dump-autoload",
		"bundle": "install update config", "gem": "install", "playwright": "install install-deps", "pre-commit": "install install-hooks autoupdate clean", "lefthook": "install", "husky": "install init",
		"apt": "install update", "apt-get": "install update", "dnf": "install", "yum": "install", "pacman": "*", "apk": "add", "choco": "install", "winget": "install", "scoop": "install",
		"gh": "auth", "gcloud": "auth config", "aws": "sso configure", "az": "login account", "op": "signin", "vault": "login", "buf": "dep mod", "cmake": "*", "configure": "*", "autoreconf": "*",
	} {
		set := map[string]bool{}
		for s := range strings.FieldsSeq(subs) {
			set[s] = true
		}
		m[program] = set
	}
	return m
})

// altering renders a simple command that changes the state for others, relative
// to the repository at root; "" for any other.
func altering(s simple, root string) string {
	if s.script || len(s.words) == 0 {
		return ""
	}
	program := path.Base(unquote(s.words[0]))
	args := s.words[1:]
	switch program {
	case "npx", "bunx", "pnpx", "bundle", "uv", "poetry", "php", "python", "python3", "docker":
		// What runs another program, unless it is one of its own subcommands.
		word, rest := next(args)
		if (word == "exec" || word == "run" || word == "compose") && len(rest) > 0 && program != "npx" {
			inner := rest
			if word == "compose" {
				inner = append([]string{"compose"}, rest...)
			}
			if word != "run" || program != "docker" {
				if changes(path.Base(unquote(inner[0])), inner[1:]) {
					return rendered(s, root)
				}
			}
		} else if changers()[path.Base(word)] != nil && changes(path.Base(word), rest) {
			return rendered(s, root)
		}
	case "git":
		args = gitArguments(args)
	}
	if !changes(program, args) {
		return ""
	}
	return rendered(s, root)
}

// gitArguments are the arguments of git behind its own options.
func gitArguments(args []string) []string {
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-C" || args[0] == "-c" {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

func changes(program string, args []string) bool {
	subs := changers()[program]
	if subs == nil {
		return false
	}
	if subs["*"] {
		return len(args) > 0 && !onlyTemporary(program, args)
	}
	word := ""
	for _, w := range args {
		if !strings.HasPrefix(w, "-") || subs[w] {
			word = unquote(w)
			break
		}
	}
	if !subs[word] {
		return false
	}
	if program == "git" {
		rest := args[slices.Index(args, word)+1:]
		switch word {
		case "checkout", "switch": // a new branch changes nothing
			return !slices.Contains(rest, "-b") && !slices.Contains(rest, "-c") && !slices.Contains(rest, "-B")
		case "submodule", "config", "stash", "lfs":
			sub, more := next(rest)
			return word == "config" && len(more) > 0 && !strings.HasPrefix(strings.Join(rest, " "), "--get") && !slices.Contains(rest, "--get-regexp") ||
				word != "config" && sub != "status" && sub != "list" && sub != "show" && sub != "ls-files" && sub != "summary"
		case "apply":
			return !slices.Contains(rest, "--check") && !slices.Contains(rest, "--stat")
		}
	}
	return true
}

// onlyTemporary reports whether all that a command of the shell names lies in a
// directory that a system empties, or is not known before it runs.
func onlyTemporary(program string, args []string) bool {
	named := false
	for _, w := range args {
		w = unquote(w)
		if strings.HasPrefix(w, "-") {
			continue
		}
		if temporary(w) || strings.HasPrefix(w, "$") {
			if program == "cp" || program == "mv" {
				return true
			}
			continue
		}
		named = true
	}
	return !named
}

// maxRendered is how many bytes of a rendered command line are told, whole or not at all.
const maxRendered = 260

// rendered is a simple command as one would type it, with numbers of processes left
// out. Hashes stay whole: no remote knows a commit by the beginning of its hash.
func rendered(s simple, root string) string {
	words := slices.Clone(s.words)
	kill := strings.HasSuffix(unquote(words[0]), "kill")
	kept := words[:0]
	for i, w := range words {
		if root != "" && root != "/" && strings.Contains(w, root) {
			w = strings.ReplaceAll(strings.ReplaceAll(w, root+"/", ""), root, ".")
		}
		if kill && i > 0 && strings.Trim(w, "0123456789") == "" {
			if len(kept) > 0 && kept[len(kept)-1] == "…" {
				continue
			}
			w = "…"
		}
		kept = append(kept, w)
	}
	text := strings.Join(kept, " ")
	if p := prefix(s.before); p != "" {
		text = p + " " + text
	}
	if strings.ContainsAny(text, "`\n") || strings.Contains(text, "$(") || len(text) > maxRendered {
		return ""
	}
	return text
}

// shape is a command without its operands: what two like it share.
func shape(text string) string {
	var out []string
	for w := range strings.FieldsSeq(text) {
		if !strings.Contains(w, "/") && !looksLikeFile(w) && !strings.ContainsAny(w, "0123456789=") {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
