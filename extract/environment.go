package extract

import (
	"strings"

	"memoir"
)

// surroundings finds the versions of tools that a session printed and the
// programs that it found missing.
func surroundings(r *reading) []found {
	var out []found
	add := func(text string, item int) {
		out = appendFound(out, found{memoir.Statement{Kind: memoir.StatementEnvironment, Text: text, Items: []int{item}}, 2})
	}
	worked := map[string]bool{}
	for _, run := range r.runs {
		if !run.failed {
			for _, s := range splitShell(run.line) {
				worked[unquote(s.words[0])] = true
			}
		}
	}
	for _, run := range r.runs {
		if run.failed || looksFailed(run.output) {
			if name := missingProgram(run.output); name != "" && !worked[name] {
				add(code(name)+" is not installed here", run.item)
			}
		}
		if run.failed {
			continue
		}
		parts := splitShell(run.line)
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
	if len(out) > 5 {
		out = out[:5]
	}
	return out
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

// missingProgram returns the program that a shell did not find.
func missingProgram(output string) string {
	for line := range strings.Lines(output[:min(len(output), 16<<10)]) {
		line = strings.TrimSpace(clean(line))
		var name string
		if i := strings.Index(line, ": command not found"); i > 0 { // bash: line 1: foo: command not found
			name = line[:i]
			name = name[strings.LastIndexAny(name, ": ")+1:]
			if rest := strings.TrimPrefix(line[i:], ": command not found: "); rest != line[i:] { // zsh
				name = rest
			}
		} else if i := strings.Index(line, "command not found: "); i >= 0 {
			name = line[i+len("command not found: "):]
		} else if i := strings.Index(line, ": executable file not found in $PATH"); i > 0 {
			name = strings.Trim(line[strings.LastIndexByte(line[:i], ' ')+1:i], `"'`)
		}
		if name != "" && len(name) < 40 && !strings.ContainsAny(name, " \t/$`'\"()") {
			return name
		}
	}
	return ""
}

func firstLine(s string) string {
	for line := range strings.Lines(clean(s)) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.ReplaceAll(line, "`", "'")
		}
	}
	return ""
}
