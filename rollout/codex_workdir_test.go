package rollout

import "testing"

func TestACallRunsInTheDirectoryThatItNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, payload, want string
	}{
		"named":                {"function_call", `{"name":"exec_command","arguments":"{\"cmd\":\"ls\",\"workdir\":\"/other\"}"}`, "/other"},
		"as an object":         {"function_call", `{"name":"shell","arguments":{"command":["ls"],"workdir":"/other"}}`, "/other"},
		"relative":             {"function_call", `{"name":"shell","arguments":"{\"command\":[\"ls\"],\"workdir\":\"sub\"}"}`, "/turn/sub"},
		"of Windows":           {"function_call", `{"name":"shell","arguments":"{\"command\":[\"dir\"],\"workdir\":\"C:\\\\src\"}"}`, `C:\src`},
		"not named":            {"function_call", `{"name":"exec_command","arguments":"{\"cmd\":\"ls\"}"}`, "/turn"},
		"broken arguments":     {"function_call", `{"name":"exec_command","arguments":"{\"cmd\""}`, "/turn"},
		"local shell":          {"local_shell_call", `{"action":{"command":["ls"],"working_directory":"/other"}}`, "/other"},
		"code mode":            {"custom_tool_call", `{"name":"exec","input":"await tools.exec_command({cmd:'ls', workdir:'/other'})"}`, "/other"},
		"code mode, several":   {"custom_tool_call", `{"name":"exec","input":"tools.exec_command({cmd:'ls',workdir:'/a'}); tools.exec_command({cmd:'ls',workdir:'/b'})"}`, "/turn"},
		"a patch in code mode": {"custom_tool_call", `{"name":"exec","input":"tools.apply_patch('x')"}`, "/turn"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := codexWorkdir(tt.kind, []byte(tt.payload), "/turn"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
