package integrate

import (
	"encoding/json"
	"testing"
)

func TestACallIsReadInTheFormOfEachAgent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		event, input          string
		ended, failed, passed bool
		line, output          string
	}{
		"Claude Code": {"PostToolUseFailure", `{"tool_name":"Bash","tool_input":{"command":"lint"},"error":"Exit code 2\nno"}`,
			true, true, false, "lint", "Exit code 2\nno"},
		"one that was interrupted": {"PostToolUseFailure", `{"tool_name":"Bash","tool_input":{"command":"lint"},"error":"no","is_interrupt":true}`,
			false, true, false, "lint", "no"},
		"before a call": {"PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"lint"}}`, false, false, false, "lint", ""},
		"a shell's words": {"PostToolUse", `{"tool_name":"shell","tool_input":{"command":["bash","-lc","lint"]},"tool_response":"no"}`,
			true, false, false, "lint", "no"},
		"Gemini CLI": {"AfterTool", `{"tool_name":"run_shell_command","tool_input":{"command":"lint"},"tool_response":{"llmContent":"Command: lint\nOutput: no\nExit Code: 0"}}`,
			true, false, true, "lint", "Command: lint\nOutput:\nno\nExit Code: 0"},
		"a status as a number": {"PostToolUse", `{"tool_name":"bash","tool_input":{"cmd":"lint"},"tool_response":{"exit_code":0,"output":"no"}}`,
			true, false, true, "lint", "no"},
		"Copilot CLI": {"", `{"toolName":"bash","toolArgs":"{\"command\":\"lint\"}","toolResult":{"resultType":"failure","textResultForLlm":"no"}}`,
			true, true, false, "lint", "failure\nno"},
		"an edit": {"PostToolUse", `{"tool_name":"Edit","tool_input":{"file_path":"a"},"tool_response":"ok"}`, true, false, false, "", "ok"},
		"a start": {"SessionStart", `{}`, false, false, false, "", ""},
	} {
		var c Call
		if err := json.Unmarshal([]byte(test.input), &c); err != nil {
			t.Fatal(err)
		}
		ended, failed := c.Ended(test.event)
		if ended != test.ended || failed != test.failed || c.Passed() != test.passed || c.CommandLine() != test.line ||
			c.Item().Output != test.output {
			t.Errorf("%s: %v %v %v %q %q", name, ended, failed, c.Passed(), c.CommandLine(), c.Item().Output)
		}
	}
}
