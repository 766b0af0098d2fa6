package mockmodel

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/tidwall/gjson"
)

func TestScriptDecidesByTheConversation(t *testing.T) {
	t.Parallel()
	bash := []Tool{{Name: "bash", Schema: schema("command")}}
	said := Message{Role: RoleUser, Text: "<context>\n" + prompt}
	called := Message{Role: RoleAssistant, Calls: []string{"bash"}}
	result := Message{Role: RoleTool, Given: "wick"}
	for _, c := range []struct {
		name     string
		messages []Message
		tools    []Tool
		text     string
	}{
		{"a prompt", []Message{said}, bash, "I look."},
		{"a result", []Message{said, called, result}, bash, "I write."},
		{"a note of the agent's own after it", []Message{said, called, result, {Role: RoleUser, Text: "<reminder>"}}, bash, "I write."},
		{"a request without tools", []Message{said}, nil, SideAnswer},
		{"a request with other tools", []Message{said}, []Tool{{Name: "set_title"}}, SideAnswer},
		{"an unknown prompt", []Message{{Role: RoleUser, Text: "hello"}}, bash, SideAnswer},
		{"a prompt that is answered", []Message{said, {Role: RoleAssistant, Text: "The wick is missing."}}, bash, SideAnswer},
		{"a request for a summary", []Message{said, called, {Role: RoleTool, Given: "wick", Text: "Summarise."}}, bash, SideAnswer},
		{"the next prompt", []Message{said, called, result, {Role: RoleAssistant}, {Role: RoleUser, Text: "And the oil?"}}, bash, "It is full."},
		{"the next prompt beside a result", []Message{said, called, {Role: RoleTool, Given: "wick <new>And the oil?</new>"}}, bash, "It is full."},
		{"a prompt that only the rules quote", []Message{{Role: RoleOther, Text: prompt}}, bash, SideAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if reply := lantern.next(Request{Messages: c.messages, Tools: c.tools}, "id"); reply.Text != c.text {
				t.Errorf("%q; want %q", reply.Text, c.text)
			}
		})
	}
}

func schema(required ...string) gjson.Result { return gjson.Parse(asJSON(schemaOf(required...))) }

func TestToolsAreCalledAsTheyAreOffered(t *testing.T) {
	t.Parallel()
	of := schema
	array := gjson.Parse(`{"properties":{"command":{"type":"ARRAY"}},"required":["command"]}`)
	demanding := gjson.Parse(`{"properties":{"command":{"type":"string"},"wait":{"type":["boolean","null"]},"n":{"type":"integer"},` +
		`"mode":{"type":"string","enum":["sync","async"]},"list":{"type":"array"},"more":{"type":"object"}},` +
		`"required":["command","wait","n","mode","list","more"]}`)
	ending := gjson.Parse(`{"properties":{"result":{"type":"object","properties":{"response":{"type":"string"}}}},"required":["result"]}`)
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
	if reply := bare.next(Request{Messages: asked}, "id"); reply.Text != `{"wick":true}` || reply.Calls != nil {
		t.Errorf("%+v", reply)
	}
	reply := bare.next(Request{Messages: asked, Tools: []Tool{{Name: "StructuredOutput"}}}, "id")
	if len(reply.Calls) != 1 || !reflect.DeepEqual(reply.Calls[0].Input, map[string]any{"wick": true}) {
		t.Errorf("with a tool for the answer: %+v", reply)
	}
}
