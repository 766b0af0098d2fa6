package extract

import (
	"slices"
	"strings"

	"memoir"
)

// surroundings finds the versions of tools that a session printed and the
// programs that it found missing.
func surroundings(r *reading) []found {
	var out []found
	add := func(text string, item int) {
		out = r.appendFound(out, found{memoir.Statement{Kind: memoir.StatementEnvironment, Text: text, Items: []int{item}}, 2})
	}
	worked := map[string]bool{}
	for _, run := range r.runs {
		if !run.failed {
			for _, s := range run.whole {
				worked[unquote(s.words[0])] = true
			}
		}
	}
	for i, run := range r.runs {
		if run.failed || strings.Contains(run.output[:min(len(run.output), 4<<10)], "ommand not found") {
			if name := missingProgram(run.output); name != "" && !worked[name] && (run.names(name) || !strings.Contains(name, "_")) {
				text, item := remedy(r, i, name)
				add(text, run.item)
				if item != 0 && len(out) > 0 && out[len(out)-1].Text == text {
					out[len(out)-1].Items = mergeItems(out[len(out)-1].Items, []int{item})
				}
			}
		}
		if run.failed {
			continue
		}
		parts := run.whole
		if len(parts) == 1 && asksVersion(parts[0].words) {
			name := unquote(parts[0].words[0])
			if line := firstLine(run.output); line != "" && strings.ContainsAny(line, "0123456789") && len(line) <= 60 && !strings.ContainsAny(name, "/$") {
				if strings.HasPrefix(strings.ToLower(line), strings.ToLower(name)) {
					add(line, run.item)
				} else {
					add(name+" "+line, run.item)
				}
			}
		}
	}
	out = append(out, checkedOut(r)...)
	out = append(out, observed(r, out)...)
	if len(out) > 5 {
		out = out[:5]
	}
	return out
}

// remedyWindow is how many runs behind a missing program are searched for what
// was used instead.
const remedyWindow = 12

// remedy says that a program is missing, and what worked in its place: another
// program with the same arguments, or one that runs it.
func remedy(r *reading, at int, name string) (text string, item int) {
	text = code(name) + " is not installed here"
	var asked simple
	for _, s := range r.runs[at].parts {
		if unquote(s.words[0]) == name {
			asked = s
			break
		}
	}
	for _, later := range r.runs[at+1 : min(len(r.runs), at+1+remedyWindow)] {
		if later.failed {
			continue
		}
		for _, s := range later.parts {
			program := unquote(s.words[0])
			if readers()[program] || s.script {
				continue
			}
			i := slices.IndexFunc(s.words[1:], func(w string) bool { return unquote(w) == name })
			if i >= 0 && runs(program) {
				how := strings.Join(s.words[:i+2], " ")
				if j := slices.Index(s.words, "--"); j > i+1 && j+1 < len(s.words) { // the runner is told the name of the tool first
					how = strings.Join(s.words[:min(j+2, len(s.words))], " ")
				}
				if len(how) < 80 {
					return code(name) + " is not on PATH here; " + code(how) + " works instead", later.item
				}
			}
			if len(asked.words) > 1 && program != name && slices.Equal(asked.words[1:], s.words[1:]) {
				return code(name) + " is not installed here; use " + code(program) + " instead", later.item
			}
		}
	}
	return text, 0
}

// runs reports whether a program runs others that need not be on the path.
func runs(program string) bool {
	switch program {
	case "npx", "bunx", "pnpm", "yarn", "bun", "npm", "uv", "uvx", "pipx", "poetry", "pdm", "hatch", "rye", "pipenv", "bundle", "mise", "asdf", "nix", "nix-shell", "direnv", "devbox", "docker", "podman", "go", "cargo", "dotnet", "python", "python3", "php", "rbenv", "pyenv", "volta", "fnm", "rustup", "xcrun", "flox", "pkgx", "rtx":
		return true
	}
	return false
}

func asksVersion(words []string) bool {
	if len(words) != 2 {
		return false
	}
	switch words[1] {
	case "--version", "-V", "version":
		return true
	case "-v":
		name := unquote(words[0])
		return name == "node" || name == "npm" || name == "pnpm" || name == "yarn" || name == "bun"
	}
	return false
}

// names reports whether a program is called in the command line itself. One that only
// a script behind it misses, and that has an underscore, is a function of that script.
func (r *run) names(program string) bool {
	return slices.ContainsFunc(r.whole, func(s simple) bool { return unquote(s.words[0]) == program })
}

// missingProgram returns the program that a shell did not find.
func missingProgram(output string) string {
	for line := range strings.Lines(output[:min(len(output), 16<<10)]) {
		line = strings.TrimSpace(clean(line))
		var name string
		if i := strings.Index(line, "command not found: "); i >= 0 { // zsh
			name = line[i+len("command not found: "):]
		} else if i := strings.Index(line, ": executable file not found in $PATH"); i > 0 {
			name = strings.Trim(line[strings.LastIndexByte(line[:i], ' ')+1:i], `"'`)
		} else if rest, ok := strings.CutPrefix(line, "'"); ok && strings.Contains(line, "is not recognized as an internal or external command") {
			name, _, _ = strings.Cut(rest, "'")
		} else {
			for _, phrase := range notFound { // bash: line 1: foo: command not found
				if i := strings.Index(line, phrase); i > 0 {
					name = strings.TrimRight(line[:i], " .:,;")
					name = name[strings.LastIndexAny(name, ": ")+1:]
					break
				}
			}
		}
		if name != "" && len(name) < 40 && !strings.ContainsAny(name, " \t/$`'\"()") {
			return name
		}
	}
	return ""
}

// notFound is how shells say in several languages that there is no such program.
var notFound = []string{
	": command not found", ": not found", ": Befehl nicht gefunden", ": Kommando nicht gefunden", ": commande introuvable", ": orden no encontrada", ": no se encontró la orden",
	": comando non trovato", ": comando não encontrado", ": команда не найдена", ": nie znaleziono polecenia", ": opdracht niet gevonden", ": 未找到命令", ": 找不到命令", ": コマンドが見つかりません", ": 명령어를 찾을 수 없음", ": kommandot finns inte",
}

func firstLine(s string) string {
	for line := range strings.Lines(clean(s)) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.ReplaceAll(line, "`", "'")
		}
	}
	return ""
}
