package mockmodel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"memoir/model/modeltest"
)

// Names under which agents offer a shell and a way to write a whole file; the
// first that is offered is called.
var (
	shellTools  = []string{"exec_command", "shell_command", "Bash", "bash", "run_shell_command", "shell", "exec"}
	agentTools  = []string{"Agent", "Task", "task", "agent", "invoke_agent", "spawn_agent"}
	endTools    = []string{EndTool}
	answerTools = []string{"StructuredOutput"}
	writeTools  = []string{"Write", "write", "write_file", "create", "apply_patch", "exec"}
)

// EndTool is what some sub-agents call to give their answer.
const EndTool = "complete_task"

// parameters are the names of those that hold what a step is about.
var parameters = map[string][]string{
	"command": {"command", "cmd", "script"},
	"prompt":  {"prompt", "message", "assignment", "task"},
	"answer":  {"response", "result"},
	"path":    {"file_path", "filePath", "path", "absolute_path"},
	"content": {"content", "file_text", "contents", "text"},
	"patch":   {"input", "patch"},
}

// fixed are parameters that take one of a list which no schema gives: the
// sub-agents for everything.
var fixed = map[string]string{"subagent_type": "general", "agent_name": "generalist"}

// call makes the tool call of a step; false: it has none, or no tool offered fits.
func (s Step) call(tools []Tool, id string) (modeltest.ToolCall, bool) {
	with := func(tool Tool, input any) (modeltest.ToolCall, bool) {
		return modeltest.ToolCall{ID: id, Name: tool.Name, Namespace: tool.Namespace, Custom: tool.Custom, Input: input}, true
	}
	switch {
	case s.Shell != "":
		if tool, ok := choose(tools, shellTools); ok && tool.Custom {
			return with(tool, code("exec_command", fmt.Sprintf("{cmd: %q}", s.Shell)))
		} else if ok {
			return with(tool, arguments(tool.Schema, map[string]any{"command": s.Shell}))
		}
	case s.Tool != "":
		for _, tool := range tools {
			if strings.HasSuffix(tool.Name, s.Tool) {
				return with(tool, s.Input)
			}
		}
	case s.Agent != "":
		if tool, ok := choose(tools, agentTools); ok {
			return with(tool, arguments(tool.Schema, map[string]any{"prompt": s.Agent}))
		}
	case s.Write != nil:
		patch := s.Write.patch()
		switch tool, ok := choose(tools, writeTools); {
		case ok && tool.Custom && tool.Name == "exec": // it runs JavaScript
			return with(tool, code("apply_patch", strconv.Quote(patch)))
		case ok && tool.Custom:
			return with(tool, patch)
		case ok && tool.Name != "exec":
			return with(tool, arguments(tool.Schema,
				map[string]any{"path": s.Write.Path, "content": s.Write.Content, "patch": patch}))
		}
	default:
		// An answer that has a schema may be asked for as a call.
		var answer map[string]any
		if tool, ok := choose(tools, answerTools); ok && json.Unmarshal([]byte(s.Text), &answer) == nil {
			return with(tool, answer)
		}
		// Some sub-agents end with a call instead of an answer.
		if tool, ok := choose(tools, endTools); ok {
			return with(tool, arguments(tool.Schema, map[string]any{"answer": s.Text}))
		}
	}
	return modeltest.ToolCall{}, false
}

// code calls an inner tool through one that runs JavaScript.
func code(inner, argument string) string {
	return fmt.Sprintf("const r = await tools.%s(%s);\ntext(typeof r === 'string' ? r : JSON.stringify(r));\n",
		inner, argument)
}

func (f File) patch() string {
	var b strings.Builder
	fmt.Fprintf(&b, "*** Begin Patch\n*** Add File: %s\n", f.Path)
	for line := range strings.Lines(f.Content) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

func choose(tools []Tool, names []string) (Tool, bool) {
	for _, name := range names {
		for _, tool := range tools {
			if tool.Name == name {
				return tool, true
			}
		}
	}
	return Tool{}, false
}

// arguments fills in a tool's parameters: those that mean what is given, and
// something harmless for the others that it demands.
func arguments(schema gjson.Result, given map[string]any) map[string]any {
	input := map[string]any{}
	for meaning, value := range given {
		for _, name := range parameters[meaning] {
			parameter := schema.Get("properties." + name)
			if !parameter.Exists() {
				continue
			}
			switch kindOf(parameter) {
			case "array":
				value = []string{"bash", "-lc", fmt.Sprint(value)}
			case "object":
				value = arguments(parameter, given)
			}
			input[name] = value
			break
		}
	}
	for _, required := range schema.Get("required").Array() {
		name := required.Str
		if _, ok := input[name]; !ok {
			if input[name] = harmless(schema.Get("properties." + name)); fixed[name] != "" {
				input[name] = fixed[name]
			}
		}
	}
	return input
}

// kindOf is the first type of a schema, in lower case.
func kindOf(schema gjson.Result) string {
	for _, kind := range schema.Get("type").Array() {
		return strings.ToLower(kind.Str)
	}
	return ""
}

func harmless(schema gjson.Result) any {
	if first := schema.Get("enum.0"); first.Exists() {
		return first.Value()
	}
	switch kindOf(schema) {
	case "boolean":
		return false
	case "integer", "number":
		return 30
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return "the next step"
}
