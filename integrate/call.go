package integrate

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Call is what agents write to a hook about a tool call, each with its own names for the same things. Its input and
// its result are neither stored nor logged.
type Call struct {
	AgentID    string          `json:"agent_id"` // of a sub-agent of Claude Code
	Tool       string          `json:"tool_name"`
	ToolCamel  string          `json:"toolName"` // Copilot
	Input      json.RawMessage `json:"tool_input"`
	InputCamel json.RawMessage `json:"toolArgs"`
	Response   json.RawMessage `json:"tool_response"`
	Result     json.RawMessage `json:"toolResult"`
	Error      json.RawMessage `json:"error"`
	Interrupt  bool            `json:"is_interrupt"`
}

// The events of a tool call that has ended, and of one that failed.
var (
	callEvents    = []string{"PostToolUse", "AfterTool", "postToolUse"}
	failureEvents = []string{"PostToolUseFailure", "postToolUseFailure"}
)

// PromptEvents are the events of a person's message.
var PromptEvents = []string{"UserPromptSubmit", "BeforeAgent"}

// Named reports whether a hook's input names a tool.
func (c Call) Named() bool { return cmp.Or(c.Tool, c.ToolCamel) != "" }

// Ended reports whether an event is of a tool call that has ended, and whether it or its result says that the call
// failed; Passed reads the exit status. Copilot names no event.
func (c Call) Ended(event string) (ended, failed bool) {
	failed = slices.Contains(failureEvents, event) || event == "" && len(c.Error) > 0 ||
		gjson.GetBytes(c.Result, "resultType").Str == "failure"
	ended = failed || slices.Contains(callEvents, event) || event == ""
	return ended && c.Named() && !c.Interrupt, failed
}

// Item returns the call with its result.
func (c Call) Item() memoir.Item {
	input := slices.Concat(c.Input, c.InputCamel)
	if text := gjson.ParseBytes(input); text.Type == gjson.String {
		input = []byte(text.Str)
	}
	output := strings.Join(slices.Concat(textsIn(c.Response), textsIn(c.Result), textsIn(c.Error)), "\n")
	return memoir.Item{Kind: memoir.ItemTool, Tool: cmp.Or(c.Tool, c.ToolCamel), Input: string(input),
		Output: strings.ReplaceAll(output, "\nOutput: ", "\nOutput:\n")} // Gemini CLI and Qwen Code write it in one line
}

// textsIn returns the texts in JSON, in order.
func textsIn(value json.RawMessage) (out []string) {
	gjson.ParseBytes(value).ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			out = append(out, v.Str)
		} else if v.IsObject() || v.IsArray() {
			out = append(out, textsIn([]byte(v.Raw))...)
		}
		return true
	})
	return out
}

// exited matches how agents say in a result with which status a command ended.
var exited = lazyregexp.New(`(?im)^(?:process |command )?exit(?:ed)?(?: with)?(?: code| status)?:? (\d+)`)

// Passed reports whether the result says that the command ended with the status 0.
func (c Call) Passed() bool {
	for _, result := range []json.RawMessage{c.Response, c.Result} {
		for _, name := range []string{"exit_code", "exitCode", "metadata.exit", "metadata.exit_code"} {
			if code := gjson.GetBytes(result, name); code.Type == gjson.Number {
				return code.Int() == 0
			}
		}
	}
	return append(exited.FindStringSubmatch(c.Item().Output), "", "")[1] == "0"
}

// CommandLine returns the command line of a call of a shell, "" of another tool.
func (c Call) CommandLine() string {
	for _, name := range []string{"command", "cmd"} {
		line := gjson.Get(c.Item().Input, name)
		if words := line.Array(); line.IsArray() && len(words) > 0 { // bash -lc LINE
			line = words[len(words)-1]
		}
		if line.Type == gjson.String {
			return line.Str
		}
	}
	return ""
}
