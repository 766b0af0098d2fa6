package extract

import (
	"encoding/json"
	"strings"
)

// A scriptLine is a command line in a program, and where it is told to run.
type scriptLine struct{ text, dir string }

// scripted returns the command lines that a program written for the agent's
// "code mode" runs: the arguments of its exec_command calls.
func scripted(input string) []scriptLine {
	if !strings.Contains(input, "exec_command(") {
		return nil
	}
	var out []scriptLine
	for i, part := range strings.Split(input, "exec_command(") {
		if i == 0 {
			continue
		}
		text, rest, ok := field(part, "cmd", 200)
		if !ok {
			continue
		}
		dir, _, _ := field(rest, "workdir", 40)
		out = append(out, scriptLine{text, dir})
	}
	return out
}

// field reads the string literal behind a name that stands within the first
// bytes of a script's part, and returns what follows it.
func field(part, name string, within int) (value, rest string, ok bool) {
	at := strings.Index(part, name)
	if at < 0 || at > within {
		return "", part, false
	}
	lit := strings.TrimLeft(part[at+len(name):], "\"' :")
	// The trim took the opening quotation mark along: find it again.
	lit = part[len(part)-len(lit)-1:]
	value, ok = literal(lit)
	return value, lit[min(len(lit), len(value)+2):], ok
}

// literal reads the string literal that s begins with.
func literal(s string) (string, bool) {
	if s == "" || strings.IndexByte("\"'`", s[0]) < 0 {
		return "", false
	}
	end := quoteEnd(s, 0)
	if s[0] == '\'' || s[0] == '`' { // not raw here: a script's literal
		for end = 1; end < len(s) && s[end] != s[0]; end++ {
			if s[end] == '\\' {
				end++
			}
		}
		end = min(end+1, len(s))
	}
	lit := s[:end]
	if len(lit) < 2 || lit[len(lit)-1] != s[0] {
		return "", false
	}
	if s[0] == '"' {
		var out string
		if json.Unmarshal([]byte(lit), &out) == nil {
			return out, true
		}
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`, "\\`", "`", `\\`, `\`).Replace(lit[1 : len(lit)-1]), true
}
