package rollout

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"memoir"
)

// codexCall returns the tool of a call and its input: the command line of a shell tool, the patch, or the
// arguments as recorded. dir is the directory in the call, "" if there is none.
func codexCall(kind string, p []byte) (tool, input, dir string) {
	tool = getText(p, "name")
	switch kind {
	case "local_shell_call":
		return kind, commandLine(get(p, "action", "command")), getText(p, "action", "working_directory")
	case "tool_search_call":
		return kind, source(get(p, "arguments")), ""
	case "custom_tool_call":
		input = getText(p, "input")
		if tool == "exec" {
			return codexScript(input)
		}
		return tool, input, ""
	}
	if ns := getText(p, "namespace"); ns != "" && !strings.HasPrefix(tool, ns) {
		tool = ns + tool
	}
	object := callArguments(p)
	if object == nil {
		return tool, getText(p, "arguments"), ""
	}
	input, dir = source(object), getText(object, "workdir")
	switch tool {
	case "shell", "container.exec", "shell_command", "exec_command", "unified_exec", "local_shell":
		for _, key := range []string{"command", "cmd", "input"} {
			if line := commandLine(get(object, key)); line != "" {
				if tool == "container.exec" || tool == "local_shell" { // spellings of early versions
					tool = "shell"
				}
				return tool, line, dir
			}
		}
	case "apply_patch":
		if patch := getText(object, "input"); patch != "" {
			return tool, patch, dir
		}
	}
	return tool, input, dir
}

// callArguments returns a call's arguments if they are an object, else nil.
func callArguments(p []byte) []byte {
	arguments := get(p, "arguments")
	if isString(arguments) {
		arguments = []byte(text(arguments))
	}
	if arguments = bytes.TrimSpace(arguments); isObject(arguments) {
		return arguments
	}
	return nil
}

// commandLine makes a command line from a string or an argument vector. The -c argument of a shell is the line.
func commandLine(raw []byte) string {
	if isString(raw) {
		return text(raw)
	}
	var argv []string
	for v := range elements(raw) {
		argv = append(argv, text(v))
	}
	if len(argv) >= 3 {
		switch path.Base(argv[0]) {
		case "bash", "sh", "zsh", "dash", "fish":
			if strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
				return argv[2]
			}
		case "pwsh", "powershell", "powershell.exe", "cmd", "cmd.exe":
			return argv[len(argv)-1]
		}
	}
	for i, arg := range argv {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'`$\\|&;<>()*?[]#~!{}") {
			argv[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(argv, " ")
}

// codexOutput reads a result in any form of any version: JSON in a string, a preamble before "Output:", an array
// of blocks, an object.
func codexOutput(p []byte, call *memoir.Item) outcome {
	raw := get(p, "output")
	if raw == nil {
		raw = get(p, "tools") // tool_search_output
	}
	switch {
	case isString(raw):
		return stringOutput(text(raw))
	case isArray(raw):
		return blocksOutput(raw, call)
	case isObject(raw):
		o := stringOutput(getText(raw, "content"))
		if content := get(raw, "content"); isArray(content) {
			o = blocksOutput(content, call)
		} else if content == nil {
			o = stringOutput(source(raw))
		}
		if success := get(raw, "success"); success != nil && string(success) == "false" {
			o.failed = true
		}
		return o
	}
	return outcome{output: source(raw)}
}

func stringOutput(s string) outcome {
	if strings.HasPrefix(s, "{") {
		object := []byte(s)
		if output := get(object, "output"); isString(output) {
			return outcome{output: text(output), exit: exitStatus(get(object, "metadata", "exit_code"))}
		}
	}
	return framedOutput(s)
}

// preambles are the beginnings of lines that Codex writes before "Output:".
var preambles = []string{
	"Exit code: ", "Wall time", "Chunk ID: ", "Process exited with code ", "Process running with session ID ",
	"Original token count: ", "Script completed", "Script failed", "Script running with cell ID ", "Script terminated",
	"Total output lines: ", "Command: ", "Duration: ", "Session ID: ", "Warning: truncated output", "Output too long",
}

// failures are the beginnings of results of failed calls.
var failures = []string{
	"apply_patch verification failed", "aborted", "failed to parse function arguments", "exec command rejected",
	"rejected by user", "execution error:", "unsupported call", "Script failed", "exec_command failed",
	"write_stdin failed", "tool call error", "patch rejected", "failed in sandbox", "command timed out",
}

// framedOutput removes the preamble of a result and reads the exit status in it.
func framedOutput(s string) outcome {
	o := outcome{output: s, failed: hasAnyPrefix(s, failures)}
	rest := s
	for n := 0; n < 10; n++ {
		line, after, more := strings.Cut(rest, "\n")
		if line == "Output:" || strings.HasPrefix(line, "Output:") && n > 0 {
			o.output = strings.TrimLeft(strings.TrimPrefix(line, "Output:")+"\n"+after, "\n")
			o.output = unwrapBlocks(afterWarning(o.output))
			return o
		}
		if !hasAnyPrefix(line, preambles) {
			break
		}
		if id, ok := strings.CutPrefix(line, "Process running with session ID "); ok {
			o.goesOn = handle("session ", strings.TrimSpace(id))
		}
		if id, ok := strings.CutPrefix(line, "Script running with cell ID "); ok {
			o.goesOn = handle("cell ", strings.TrimSpace(id))
		}
		for _, label := range []string{"Exit code: ", "Process exited with code "} {
			if code, ok := strings.CutPrefix(line, label); ok {
				if n, ok := leadingInt(code); ok {
					o.exit = &n
				}
			}
		}
		if !more {
			o.output = ""
			return o
		}
		rest = after
	}
	switch {
	case o.exit != nil:
		o.output = rest
	case hasAnyPrefix(rest, failures): // for instance "Wall time: …" and "aborted"
		o.output, o.failed = rest, true
	default:
		o.output = unwrapBlocks(o.output)
	}
	return o
}

// unwrapBlocks returns the text of an MCP result that is recorded as JSON.
func unwrapBlocks(s string) string {
	if !strings.HasPrefix(s, `[{"type":"text"`) && !strings.HasPrefix(s, `{"content":[{`) {
		return s
	}
	raw := []byte(s)
	if isObject(raw) {
		raw = get(raw, "content")
	}
	if joined := contentText(raw); joined != "" {
		return joined
	}
	return s
}

// blocksOutput reads an array of blocks. In code mode each block is output of the script; a printed exec_command
// result has the exit status of the command.
func blocksOutput(raw []byte, call *memoir.Item) outcome {
	var o outcome
	var texts blocks
	inner, ended, first := 0, 0, true
	for block := range elements(raw) {
		s := cmp.Or(text(block), getText(block, "text"))
		if first && hasAnyPrefix(s, preambles) {
			o = framedOutput(s)
			s = o.output
		}
		first = false
		if s = afterWarning(s); s == "" {
			continue
		}
		if output, code, session, ok := scriptResult(s); ok {
			inner++
			if s = output; code != nil {
				ended++
				if o.exit == nil || *o.exit == 0 {
					o.exit = code
				}
			} else if o.goesOn == "" {
				o.goesOn = session
			}
		}
		texts.add(s)
	}
	if ended < inner && o.exit != nil && *o.exit == 0 {
		o.exit = nil // one of the commands is still running
	}
	o.output = strings.Join(texts.texts, "\n")
	if call != nil && o.exit == nil && call.Exit != nil {
		o.exit = call.Exit
	}
	return o
}

// afterWarning removes the lines that Codex writes before a truncated output.
func afterWarning(s string) string {
	for _, line := range []string{"Warning: truncated output", "Total output lines: "} {
		if strings.HasPrefix(s, line) {
			_, s, _ = strings.Cut(s, "\n")
			s = strings.TrimLeft(s, "\n")
		}
	}
	return s
}

// scriptResult reads the result of tools.exec_command that a script printed as JSON. session is the handle of a
// command that is still running.
func scriptResult(s string) (output string, exit *int, session string, ok bool) {
	if !strings.HasPrefix(s, "{") {
		return "", nil, "", false
	}
	object := []byte(s)
	if get(object, "wall_time_seconds") == nil && get(object, "chunk_id") == nil {
		return "", nil, "", false
	}
	raw := get(object, "output")
	if !isString(raw) {
		return "", nil, "", false
	}
	session = handle("session ", string(unquotedNumber(get(object, "session_id"))))
	return text(raw), exitStatus(get(object, "exit_code")), session, true
}

// inTurn returns the directory of a call, which may be relative to the turn's.
func inTurn(dir, turn string) string {
	switch {
	case dir == "":
		return turn
	case path.IsAbs(dir) || turn == "" || len(dir) > 1 && dir[1] == ':': // of Windows
		return dir
	}
	return path.Join(turn, dir)
}
