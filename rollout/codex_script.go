package rollout

import (
	"strings"

	"github.com/tidwall/gjson"
)

// codexScript reads a "code mode" call: JavaScript that calls tools. Where it
// plainly is nothing but commands, one patch, or one other call, it is given as
// that; else as the script it is, under the tool's name "exec".
func codexScript(js string) (tool, input string) {
	calls, ok := scriptCalls(js)
	if !ok || len(calls) == 0 {
		return "exec", js
	}
	for _, c := range calls {
		if c.tool != calls[0].tool {
			return "exec", js
		}
	}
	switch calls[0].tool {
	case "exec_command":
		var lines []string
		for _, c := range calls {
			line, ok := objectString(c.args, "cmd")
			if !ok {
				return "exec", js
			}
			lines = append(lines, line)
		}
		return "exec_command", strings.Join(lines, "\n")
	case "apply_patch":
		if len(calls) == 1 {
			if patch, ok := scriptString(js, calls[0].args); ok {
				return "apply_patch", patch
			}
		}
	case "write_stdin":
		if len(calls) == 1 {
			return "write_stdin", strings.TrimSpace(calls[0].args)
		}
	}
	return "exec", js
}

type scriptCall struct{ tool, args string }

// scriptCalls finds every tools.name(…) outside strings and comments; ok is false
// where the script cannot be followed.
func scriptCalls(js string) (calls []scriptCall, ok bool) {
	for i := 0; i < len(js); {
		switch c := js[i]; {
		case c == '"' || c == '\'' || c == '`':
			end := scriptStringEnd(js, i)
			if end < 0 {
				return nil, false
			}
			i = end
		case strings.HasPrefix(js[i:], "//"):
			nl := strings.IndexByte(js[i:], '\n')
			if nl < 0 {
				return calls, true
			}
			i += nl
		case strings.HasPrefix(js[i:], "tools.") && (i == 0 || !isWordByte(js[i-1])):
			j := i + len("tools.")
			for j < len(js) && isWordByte(js[j]) {
				j++
			}
			if j >= len(js) || js[j] != '(' {
				return nil, false
			}
			end := closingParen(js, j)
			if end < 0 {
				return nil, false
			}
			calls = append(calls, scriptCall{js[i+len("tools.") : j], js[j+1 : end]})
			i = end
		default:
			i++
		}
	}
	return calls, true
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// scriptStringEnd returns the index after the string literal at js[i], -1 if it
// does not end.
func scriptStringEnd(js string, i int) int {
	quote := js[i]
	for j := i + 1; j < len(js); j++ {
		switch js[j] {
		case '\\':
			j++
		case quote:
			return j + 1
		case '\n':
			if quote != '`' {
				return -1
			}
		}
	}
	return -1
}

func closingParen(js string, i int) int {
	depth := 0
	for i < len(js) {
		switch js[i] {
		case '"', '\'', '`':
			end := scriptStringEnd(js, i)
			if end < 0 {
				return -1
			}
			i = end
			continue
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}

// objectString returns the string literal that a key of an object literal has.
func objectString(args, key string) (string, bool) {
	args = strings.TrimSpace(args)
	if !strings.HasPrefix(args, "{") {
		return "", false
	}
	for i := 1; i < len(args); {
		for i < len(args) && strings.IndexByte(" \t\r\n,", args[i]) >= 0 {
			i++
		}
		start := i
		for i < len(args) && (isWordByte(args[i]) || args[i] == '"' || args[i] == '\'') {
			i++
		}
		name := strings.Trim(args[start:i], `"'`)
		for i < len(args) && strings.IndexByte(" \t\r\n", args[i]) >= 0 {
			i++
		}
		if name == "" || i >= len(args) || args[i] != ':' {
			return "", false
		}
		i++
		for i < len(args) && strings.IndexByte(" \t\r\n", args[i]) >= 0 {
			i++
		}
		end := scriptValueEnd(args, i)
		if end < 0 {
			return "", false
		}
		if name == key {
			return literal(strings.TrimSpace(args[i:end]))
		}
		i = end
	}
	return "", false
}

// scriptValueEnd returns the index of the comma or brace after a value.
func scriptValueEnd(args string, i int) int {
	depth := 0
	for i < len(args) {
		switch args[i] {
		case '"', '\'', '`':
			end := scriptStringEnd(args, i)
			if end < 0 {
				return -1
			}
			i = end
			continue
		case '(', '{', '[':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}

// scriptString reads an argument that is a string literal, or a name that a
// const, let or var of the script binds to one.
func scriptString(js, arg string) (string, bool) {
	arg = strings.TrimSpace(arg)
	if s, ok := literal(arg); ok {
		return s, true
	}
	for _, keyword := range []string{"const ", "let ", "var "} {
		_, rest, ok := strings.Cut(js, keyword+arg)
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), "=")
		rest = strings.TrimLeft(rest, " \n")
		if !ok || rest == "" || strings.IndexByte("\"'`", rest[0]) < 0 {
			return "", false
		}
		end := scriptStringEnd(rest, 0)
		if end < 0 || !strings.HasPrefix(strings.TrimLeft(rest[end:], " "), ";") && !strings.HasPrefix(rest[end:], "\n") {
			return "", false
		}
		return literal(rest[:end])
	}
	return "", false
}

// literal decodes a JavaScript string literal without substitutions.
func literal(s string) (string, bool) {
	if len(s) < 2 || s[0] != s[len(s)-1] || strings.IndexByte("\"'`", s[0]) < 0 || scriptStringEnd(s, 0) != len(s) {
		return "", false
	}
	quote, inner := s[0], s[1:len(s)-1]
	switch quote {
	case '`':
		if strings.Contains(inner, "${") {
			return "", false
		}
		inner = strings.NewReplacer("\\`", "`", `\$`, `$`, "\r", "", "\n", `\n`, "\t", `\t`, `"`, `\"`, `\"`, `\"`, `\\`, `\\`).Replace(inner)
	case '\'':
		inner = strings.NewReplacer(`\'`, `'`, `"`, `\"`, `\"`, `\"`, `\\`, `\\`).Replace(inner)
	}
	quoted := `"` + inner + `"`
	if !gjson.Valid(quoted) {
		return "", false
	}
	return text([]byte(quoted)), true
}
