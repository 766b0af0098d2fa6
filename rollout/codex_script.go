package rollout

import "strings"

// codexScript reads a "code mode" call: JavaScript that calls tools. Where it
// plainly is nothing but commands, or one other call, it is given as that; else
// as the script it is, under the tool's name "exec". A plan that is kept beside
// the work is passed over.
func codexScript(js string) (tool, input string) {
	calls, ok := scriptCalls(js)
	if !ok || len(calls) == 0 {
		return "exec", js
	}
	if work := withoutPlans(calls); len(work) > 0 {
		calls = work
	}
	for _, c := range calls {
		if c.tool != calls[0].tool {
			return "exec", js
		}
	}
	first := calls[0]
	switch {
	case first.tool == "exec_command" || first.tool == "shell_command" || first.tool == "shell":
		if lines, ok := scriptCommands(js, calls); ok {
			return first.tool, strings.Join(lines, "\n")
		}
	case first.tool == "apply_patch":
		var patches []string
		v := newScriptValues(js)
		for _, c := range calls {
			patch, ok := v.text(c.args)
			if !ok {
				return "exec", js
			}
			patches = append(patches, patch)
		}
		return first.tool, strings.Join(patches, "\n")
	case len(calls) == 1 && first.tool != "exec": // which a script cannot call
		return first.tool, strings.TrimSpace(first.args)
	}
	return "exec", js
}

func withoutPlans(calls []scriptCall) []scriptCall {
	var work []scriptCall
	for _, c := range calls {
		if c.tool != "update_plan" {
			work = append(work, c)
		}
	}
	return work
}

// scriptCommands are the command lines of shell calls; ok is false if one of
// them is put together when the script runs. Where the calls name different
// directories, each line changes to its own, in a subshell.
func scriptCommands(js string, calls []scriptCall) (lines []string, ok bool) {
	v := newScriptValues(js)
	apart := strings.Contains(js, "workdir") && scriptWorkdir(js) == ""
	for _, c := range calls {
		cmd, found := objectValue(c.args, "cmd")
		if !found {
			cmd, found = objectValue(c.args, "command")
		}
		if !found {
			return nil, false
		}
		if line, ok := v.text(cmd); ok {
			if apart {
				line = inWorkdir(v, c, line)
			}
			lines = append(lines, line)
			continue
		}
		each, ok := v.loop(cmd)
		if !ok {
			return nil, false
		}
		lines = append(lines, each...)
	}
	return lines, true
}

// inWorkdir puts the directory that a call names in front of its command line.
func inWorkdir(v *scriptValues, c scriptCall, line string) string {
	expr, _ := objectValue(c.args, "workdir")
	dir, ok := v.text(expr)
	if !ok || dir == "" {
		return line
	}
	if strings.ContainsAny(dir, " \t'\"$&;()") {
		dir = "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	if strings.ContainsAny(line, "#\n") { // where a bracket at the end might be part of something
		return "(cd " + dir + " && " + line + "\n)"
	}
	return "(cd " + dir + " && " + line + ")"
}

type scriptCall struct{ tool, args string }

// scriptCalls finds every tools.name(…) outside strings and comments; ok is false
// where the script cannot be followed.
func scriptCalls(js string) (calls []scriptCall, ok bool) {
	ok = scriptWalk(js, func(i int) (next int, ok bool) {
		if !strings.HasPrefix(js[i:], "tools.") || i > 0 && isWordByte(js[i-1]) {
			return i + 1, true
		}
		j := i + len("tools.")
		for j < len(js) && isWordByte(js[j]) {
			j++
		}
		if j >= len(js) || js[j] != '(' {
			return 0, false
		}
		end := scriptEnd(js, j+1, "")
		if end < 0 {
			return 0, false
		}
		calls = append(calls, scriptCall{js[i+len("tools.") : j], js[j+1 : end]})
		return end, true
	})
	return calls, ok
}

// scriptWalk calls fn for each byte of a script that is not in a string or a
// comment; fn says where to go on. It is false where the script cannot be followed.
func scriptWalk(js string, fn func(i int) (next int, ok bool)) bool {
	for i := 0; i < len(js); {
		var ok bool
		switch end := scriptBlankEnd(js, i); {
		case end > i:
			i, ok = end, true
		case js[i] == '"' || js[i] == '\'' || js[i] == '`':
			end := scriptStringEnd(js, i)
			i, ok = end, end >= 0
		default:
			i, ok = fn(i)
		}
		if !ok {
			return false
		}
	}
	return true
}

// scriptBlankEnd returns the index after the white space and comments at js[i].
func scriptBlankEnd(js string, i int) int {
	for i < len(js) {
		switch {
		case strings.IndexByte(" \t\r\n", js[i]) >= 0:
			i++
		case strings.HasPrefix(js[i:], "//"), strings.HasPrefix(js[i:], "/*"):
			closing := "\n"
			if js[i+1] == '*' {
				closing = "*/"
			}
			n := strings.Index(js[i+2:], closing)
			if n < 0 {
				return len(js)
			}
			i += 2 + n + len(closing)
		default:
			return i
		}
	}
	return i
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
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

// scriptEnd returns the index of what ends the expression at js[i]: the bracket
// that closes what it stands in, or one of the bytes in stops; -1 without either.
func scriptEnd(js string, i int, stops string) int {
	depth := 0
	for i < len(js) {
		switch c := js[i]; {
		case c == '"' || c == '\'' || c == '`':
			if i = scriptStringEnd(js, i); i < 0 {
				return -1
			}
			continue
		case c == '(' || c == '{' || c == '[':
			depth++
		case c == ')' || c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			depth--
		case depth == 0 && strings.IndexByte(stops, c) >= 0:
			return i
		case c == '/' && i+1 < len(js) && (js[i+1] == '/' || js[i+1] == '*'):
			i = scriptBlankEnd(js, i)
			continue
		}
		i++
	}
	return -1
}

// objectValue returns the expression that a key of an object literal has; that of
// a shorthand {key} is the name.
func objectValue(args, key string) (string, bool) {
	args = strings.TrimSpace(args)
	if !strings.HasPrefix(args, "{") {
		return "", false
	}
	for i := 1; i < len(args); {
		i = scriptBlankEnd(args, i)
		if i < len(args) && args[i] == ',' {
			i++
			continue
		}
		start := i
		for i < len(args) && (isWordByte(args[i]) || args[i] == '"' || args[i] == '\'') {
			i++
		}
		name := strings.Trim(args[start:i], `"'`)
		i = scriptBlankEnd(args, i)
		switch {
		case name == "" || i >= len(args):
			return "", false
		case args[i] == ',' || args[i] == '}':
			if name == key {
				return name, true
			}
			i++
			continue
		case args[i] != ':':
			return "", false
		}
		end := scriptEnd(args, i+1, ",")
		if end < 0 {
			return "", false
		}
		if name == key {
			return strings.TrimSpace(args[i+1 : end]), true
		}
		i = end
	}
	return "", false
}
