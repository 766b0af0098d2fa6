package mockmodel

import (
	"reflect"
	"strconv"
	"testing"
)

func TestScriptDecidesByTheConversation(t *testing.T) {
	t.Parallel()
	bash := []Tool{{Name: "bash", Schema: Schema{Properties: map[string]Schema{"command": {}}}}}
	said := Message{Role: RoleUser, Text: "<context>\n" + prompt}
	called := Message{Role: RoleAssistant, Calls: []string{"bash"}}
	result := Message{Role: RoleTool, Given: "wick"}
	for _, c := range []struct {
		name     string
		messages []Message
		tools    []Tool
		text     string
		scripted bool
	}{
		{"a prompt", []Message{said}, bash, "I look.", true},
		{"a result", []Message{said, called, result}, bash, "I write.", true},
		{"a note of the agent's own after it", []Message{said, called, result, {Role: RoleUser, Text: "<reminder>"}}, bash, "I write.", true},
		{"a request without tools", []Message{said}, nil, SideAnswer, false},
		{"a request with other tools", []Message{said}, []Tool{{Name: "set_title"}}, SideAnswer, false},
		{"an unknown prompt", []Message{{Role: RoleUser, Text: "hello"}}, bash, SideAnswer, false},
		{"a prompt that is answered", []Message{said, {Role: RoleAssistant, Text: "The wick is missing."}}, bash, SideAnswer, false},
		{"a request for a summary", []Message{said, called, {Role: RoleTool, Given: "wick", Text: "Summarise."}}, bash, SideAnswer, false},
		{"the next prompt", []Message{said, called, result, {Role: RoleAssistant}, {Role: RoleUser, Text: "And the oil?"}}, bash, "It is full.", true},
		{"the next prompt beside a result", []Message{said, called, {Role: RoleTool, Given: "wick <new>And the oil?</new>"}}, bash, "It is full.", true},
		{"a prompt that only the rules quote", []Message{{Role: RoleOther, Text: prompt}}, bash, SideAnswer, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			reply, scripted := lantern.next(Request{Messages: c.messages, Tools: c.tools})
			if reply.Text != c.text || scripted != c.scripted {
				t.Errorf("%q, scripted %t; want %q, %t", reply.Text, scripted, c.text, c.scripted)
			}
		})
	}
}

func TestToolsAreCalledAsTheyAreOffered(t *testing.T) {
	t.Parallel()
	of := func(names ...string) Schema {
		s := Schema{Properties: map[string]Schema{}, Required: names}
		for _, name := range names {
			s.Properties[name] = Schema{Type: "string"}
		}
		return s
	}
	array := of("command")
	array.Properties["command"] = Schema{Type: "ARRAY"}
	demanding := of("command")
	demanding.Required = []string{"command", "wait", "n", "mode", "list", "more"}
	demanding.Properties["wait"] = Schema{Type: []any{"boolean", "null"}}
	demanding.Properties["n"] = Schema{Type: "integer"}
	demanding.Properties["mode"] = Schema{Type: "string", Enum: []any{"sync", "async"}}
	demanding.Properties["list"] = Schema{Type: "array"}
	demanding.Properties["more"] = Schema{Type: "object"}
	ending := of("result")
	ending.Properties["result"] = Schema{Type: "object", Properties: of("response").Properties}
	run := Step{Shell: "ls"}
	write := Step{Write: &File{"/w/a", "one\ntwo"}}
	const patch = "*** Begin Patch\n*** Add File: /w/a\n+one\n+two\n*** End Patch\n"
	for _, c := range []struct {
		name string
		step Step
		tool Tool
		want any // nil: no call
	}{
		{"a shell", run, Tool{Name: "Bash", Schema: of("command")}, object{"command": "ls"}},
		{"another parameter", run, Tool{Name: "exec_command", Schema: of("cmd")}, object{"cmd": "ls"}},
		{"a list of words", run, Tool{Name: "shell", Schema: array}, object{"command": []string{"bash", "-lc", "ls"}}},
		{"what else it demands", run, Tool{Name: "bash", Schema: demanding},
			object{"command": "ls", "wait": false, "n": 30, "mode": "sync", "list": []any{}, "more": object{}}},
		{"a shell in JavaScript", run, Tool{Name: "exec", Custom: true},
			"const r = await tools.exec_command({cmd: \"ls\"});\ntext(typeof r === 'string' ? r : JSON.stringify(r));\n"},
		{"a file", write, Tool{Name: "create", Schema: of("path", "file_text")}, object{"path": "/w/a", "file_text": "one\ntwo"}},
		{"a patch", write, Tool{Name: "apply_patch", Custom: true}, patch},
		{"a patch in JSON", write, Tool{Name: "apply_patch", Schema: of("input")}, object{"input": patch}},
		{"a patch in JavaScript", write, Tool{Name: "exec", Custom: true},
			"const r = await tools.apply_patch(" + strconv.Quote(patch) + ");\ntext(typeof r === 'string' ? r : JSON.stringify(r));\n"},
		{"a sub-agent", Step{Agent: "look"}, Tool{Name: "task", Schema: of("prompt", "subagent_type")}, object{"prompt": "look", "subagent_type": "general"}},
		{"an end by a call", Step{Text: "done"}, Tool{Name: "complete_task", Schema: ending}, object{"result": object{"response": "done"}}},
		{"nothing that fits", write, Tool{Name: "bash", Schema: of("command")}, nil},
		{"nothing to do", Step{Text: "done"}, Tool{Name: "bash", Schema: of("command")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			call, ok := c.step.call([]Tool{{Name: "other"}, c.tool}, "id")
			if ok != (c.want != nil) || ok && (call.Name != c.tool.Name || call.ID != "id" || call.Custom != c.tool.Custom || !reflect.DeepEqual(call.Input, c.want)) {
				t.Errorf("%t %+v", ok, call)
			}
		})
	}
}

func TestABareTurnNeedsNoShell(t *testing.T) {
	t.Parallel()
	bare := Script{{Prompt: prompt, Bare: true, Steps: []Step{{Text: `{"wick":true}`}}}}
	asked := []Message{{Role: RoleUser, Text: prompt}}
	if reply, scripted := bare.next(Request{Messages: asked}); reply.Text != `{"wick":true}` || reply.Calls != nil || !scripted {
		t.Errorf("%+v, scripted %t", reply, scripted)
	}
	reply, _ := bare.next(Request{Messages: asked, Tools: []Tool{{Name: "StructuredOutput"}}})
	if len(reply.Calls) != 1 || !reflect.DeepEqual(reply.Calls[0].Input, map[string]any{"wick": true}) {
		t.Errorf("with a tool for the answer: %+v", reply)
	}
}
