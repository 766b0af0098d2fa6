package mockmodel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Names under which agents offer a shell and a way to write a whole file; the
// first that is offered is called.
var (
	shellTools  = []string{"exec_command", "shell_command", "Bash", "bash", "run_shell_command", "shell", "exec"}
	agentTools  = []string{"Agent", "Task", "task", "agent", "invoke_agent", "spawn_agent"}
	endTools    = []string{EndTool}
	answerTools = []string{"StructuredOutput"}
	writeTools  = []string{"Write", "write", "write_file", "create", "apply_patch"}
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
func (s Step) call(tools []Tool, id string) (ToolCall, bool) {
	switch {
	case s.Shell != "":
		tool, ok := choose(tools, shellTools)
		if !ok {
			return ToolCall{}, false
		}
		if tool.Custom {
			return codeCall(tool, id, "exec_command", fmt.Sprintf("{cmd: %s}", strconv.Quote(s.Shell))), true
		}
		return jsonCall(tool, id, map[string]any{"command": s.Shell}), true
	case s.Agent != "":
		tool, ok := choose(tools, agentTools)
		if !ok {
			return ToolCall{}, false
		}
		return jsonCall(tool, id, map[string]any{"prompt": s.Agent}), true
	case s.Write != nil:
		tool, ok := choose(tools, writeTools)
		if !ok {
			return s.patchInCode(tools, id)
		}
		if tool.Custom {
			return ToolCall{ID: id, Name: tool.Name, Namespace: tool.Namespace, Custom: true, Input: s.Write.patch()}, true
		}
		return jsonCall(tool, id, map[string]any{"path": s.Write.Path, "content": s.Write.Content, "patch": s.Write.patch()}), true
	default:
		// An answer that has a schema may be asked for as a call.
		var answer map[string]any
		if tool, ok := choose(tools, answerTools); ok && json.Unmarshal([]byte(s.Text), &answer) == nil {
			return ToolCall{ID: id, Name: tool.Name, Namespace: tool.Namespace, Input: answer}, true
		}
		// Some sub-agents end with a call instead of an answer.
		if tool, ok := choose(tools, endTools); ok {
			return jsonCall(tool, id, map[string]any{"answer": s.Text}), true
		}
	}
	return ToolCall{}, false
}

// patchInCode writes the file where the only tool runs JavaScript.
func (s Step) patchInCode(tools []Tool, id string) (ToolCall, bool) {
	tool, ok := choose(tools, []string{"exec"})
	if !ok || !tool.Custom {
		return ToolCall{}, false
	}
	return codeCall(tool, id, "apply_patch", strconv.Quote(s.Write.patch())), true
}

// codeCall calls an inner tool through one that runs JavaScript.
func codeCall(tool Tool, id, inner, argument string) ToolCall {
	code := fmt.Sprintf("const r = await tools.%s(%s);\ntext(typeof r === 'string' ? r : JSON.stringify(r));\n", inner, argument)
	return ToolCall{ID: id, Name: tool.Name, Namespace: tool.Namespace, Custom: true, Input: code}
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

// jsonCall fills in a tool's parameters: those that mean what is given, and
// something harmless for the others that it demands.
func jsonCall(tool Tool, id string, given map[string]any) ToolCall {
	input := map[string]any{}
	for meaning, value := range given {
		for _, name := range parameters[meaning] {
			schema, offered := tool.Schema.Properties[name]
			if !offered {
				continue
			}
			switch {
			case schema.is("array"):
				value = []string{"bash", "-lc", fmt.Sprint(value)}
			case schema.is("object"):
				value = jsonCall(Tool{Schema: schema}, "", given).Input
			}
			input[name] = value
			break
		}
	}
	for _, name := range tool.Schema.Required {
		if _, ok := input[name]; !ok {
			if input[name] = harmless(tool.Schema.Properties[name]); fixed[name] != "" {
				input[name] = fixed[name]
			}
		}
	}
	return ToolCall{ID: id, Name: tool.Name, Namespace: tool.Namespace, Input: input}
}

func harmless(s Schema) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.is("boolean"):
		return false
	case s.is("integer"), s.is("number"):
		return 30
	case s.is("array"):
		return []any{}
	case s.is("object"):
		return map[string]any{}
	}
	return "the next step"
}
