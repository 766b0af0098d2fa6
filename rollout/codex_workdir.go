package rollout

import (
	"path"
	"strings"
)

// codexWorkdir returns where a tool call ran: the directory that the call itself
// names, else the turn's.
func codexWorkdir(kind string, p []byte, turn string) string {
	var dir string
	switch kind {
	case "local_shell_call":
		dir = getText(p, "action", "working_directory")
	case "custom_tool_call":
		if getText(p, "name") == "exec" {
			dir = scriptWorkdir(getText(p, "input"))
		}
	default:
		arguments := get(p, "arguments")
		if isString(arguments) {
			arguments = []byte(text(arguments))
		}
		if isObject(arguments) {
			dir = getText(arguments, "workdir")
		}
	}
	switch {
	case dir == "":
		return turn
	case path.IsAbs(dir) || turn == "" || len(dir) > 1 && dir[1] == ':': // of Windows
		return dir
	}
	return path.Join(turn, dir)
}

// scriptWorkdir is the directory that every command of a script names, "" if they differ.
func scriptWorkdir(js string) string {
	if !strings.Contains(js, "workdir") {
		return ""
	}
	calls, _ := scriptCalls(js)
	v := newScriptValues(js)
	var dir string
	first := true
	for _, c := range calls {
		if c.tool != "exec_command" {
			continue
		}
		d := ""
		if expr, ok := objectValue(c.args, "workdir"); ok {
			d, _ = v.text(expr)
		}
		if !first && d != dir {
			return ""
		}
		dir, first = d, false
	}
	return dir
}
