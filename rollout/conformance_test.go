package rollout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memoir"
)

// The same conversation as each agent writes it: a prompt, an answer, a call with
// its result, a second prompt, an answer and a call that nobody answered.
var conversations = []struct {
	name    string
	source  memoir.Source
	shell   string // the name of its shell tool
	lines   bool   // one record a line
	records []string
}{
	{"codex of early 2025", memoir.SourceCodex, "shell", true, []string{
		`{"id":"` + thread + `","timestamp":"2025-06-01T08:00:00Z","instructions":null}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context><cwd>/w</cwd></environment_context>"}]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"first prompt"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"first answer"}]}`,
		`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}","call_id":"1"}`,
		`{"type":"function_call_output","call_id":"1","output":"built"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"second prompt"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"second answer"}]}`,
		`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"sleep\"]}","call_id":"2"}`,
	}},
	{"codex", memoir.SourceCodex, "exec_command", true, cx(cxMeta(""), cxTurn("t1"), cxInput("<environment_context>x</environment_context>"),
		cxInput("first prompt"), cxUser("first prompt"), `event_msg {"type":"agent_message","message":"first answer"}`, cxAgent("first answer"),
		cxCall("1", "exec_command", `{"cmd":"make"}`), `event_msg {"type":"token_count"}`, cxOutput("1", q("built")), cxTurn("t2"),
		cxInput("second prompt"), cxUser("second prompt"), cxAgent("second answer"), cxCall("2", "exec_command", `{"cmd":"sleep"}`))},
	{"codex, paginated and in code mode", memoir.SourceCodex, "exec_command", true, cx(cxMeta(`,"history_mode":"paginated"`), cxTurn("t1"), cxKinds("<environment_context>x</environment_context>", `"environments.environment_context"`),
		cxKinds("first prompt", `"user.text"`), cxItem("t1", "first prompt"), cxAgent("first answer"), cxCustom("1", `text((await tools.exec_command({cmd:"make"})).output)`),
		cxCell("1", "Script running with cell ID 1"), cxCall("w", "wait", `{"cell_id":"1"}`), cxCell("w", "Script completed", "built"), `event_msg {"type":"task_complete","turn_id":"t1"}`,
		cxTurn("t2"), cxKinds("second prompt", `"user.text"`), cxItem("t2", "second prompt"), cxAgent("second answer"), cxCustom("2", `const cmd = "sleep"; await tools.exec_command({cmd})`))},
	{"claude", memoir.SourceClaude, "Bash", true, cc(ccSay("Caveat", `,"isMeta":true`), ccSay("first prompt"), ccText("m1", "first answer"), ccUse("m1", "t1", "Bash", `{"command":"make"}`),
		`progress "data":{"message":"first answer"}`, ccResult("t1", "built", ""), ccSay("second prompt"), ccText("m2", "second answer"), ccUse("m2", "t2", "Bash", `{"command":"sleep"}`))},
	{"pi version 1", memoir.SourcePi, "bash", true, piConversation(false)},
	{"pi version 3", memoir.SourcePi, "bash", true, piConversation(true)},
	{"oh-my-pi", memoir.SourceOMP, "bash", true, append([]string{`{"type":"title","title":"T"}`}, piConversation(true)...)},
	{"gemini", memoir.SourceGemini, "run_shell_command", false, []string{geminiDoc(gm("1", "user", `"first prompt"`, ""),
		gm("2", "gemini", `"first answer"`, `,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"built"}}}]}]`),
		gm("3", "user", `"second prompt"`, ""), gm("4", "gemini", `"second answer"`, `,"toolCalls":[{"id":"c2","name":"run_shell_command","args":{"command":"sleep"},"status":"executing"}]`))}},
	{"opencode", memoir.SourceOpenCode, "bash", false, []string{ocSession{id: "ses_1", title: "T", messages: []ocMessage{
		ocUser("m1", ocText("first prompt"), `"type":"text","synthetic":true,"text":"a file"`), ocAgent("m2", ocText("first answer"), ocTool("bash", `"status":"completed","input":{"command":"make"},"output":"built"`)),
		ocUser("m3", ocText("second prompt")), ocAgent("m4", ocText("second answer"), ocTool("bash", `"status":"running","input":{"command":"sleep"}`))}}.export()}},
	{"gemini in lines", memoir.SourceGemini, "run_shell_command", true, []string{"{" + geminiHead + `,"kind":"main"}`, gm("1", "user", `[{"text":"first prompt"}]`, ""), gm("2", "gemini", `"first answer"`, ""),
		gm("3", "gemini", `[{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"make"}}}]`, ""), `{"$set":{"lastUpdated":"2026-01-09T18:10:00.000Z"}}`,
		gm("4", "user", `[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"built"}}}]`, ""), gm("5", "user", `[{"text":"second prompt"}]`, ""), gm("6", "gemini", `"second answer"`, ""),
		gm("7", "gemini", `""`, `,"toolCalls":[{"id":"c2","name":"run_shell_command","args":{"command":"sleep"},"status":"executing"}]`)}},
	{"qwen", memoir.SourceQwen, "run_shell_command", true, qw(qwUser("first prompt"), qwAgent("first answer"), qwCall("c1", "run_shell_command", `{"command":"make"}`), qwResult("c1", "run_shell_command", "built", ""),
		qwUser("second prompt"), qwAgent("second answer"), qwCall("c2", "run_shell_command", `{"command":"sleep"}`))},
	{"copilot", memoir.SourceCopilot, "bash", true, cp(cpStart, `system.message "content":"You are"`, cpUser("first prompt"), cpAgent("first answer", cpRequest("c1", "bash", `{"command":"make"}`)),
		`tool.execution_start "toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}`, cpDone("c1", "built", ""), cpUser("second prompt"), cpAgent("second answer", cpRequest("c2", "bash", `{"command":"sleep"}`)))},
}

func piConversation(tree bool) []string {
	out := []string{strings.Replace(piV3, `"version":3,`, "", 1)}
	for i, members := range []string{piUser("first prompt"), piAgent("first answer"),
		`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make"}}]}`,
		`"type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"built"}]}`,
		piUser("second prompt"), piAgent("second answer"),
		`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"sleep"}}]}`} {
		if !tree {
			out = append(out, `{"timestamp":"2025-12-01T10:00:00Z",`+members+"}")
			continue
		}
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf("e%d", i-1)
		}
		out = append(out, pe(fmt.Sprintf("e%d", i), parent, members))
	}
	return out
}

func TestEveryReaderKeepsTheRulesOfTheStream(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "session.jsonl", c.records...)
			items, stats := read(t, path)

			final := func(s string) string { return strings.ReplaceAll(s, "!: ", ": ") }
			want := []string{"typed: first prompt", "agent: first answer", c.shell + "(make) = built", "typed: second prompt", "agent: second answer", c.shell + "(sleep) ="}
			if got := sketch(items); final(strings.Join(got, "|")) != strings.Join(want, "|") {
				t.Fatalf("items\n%s", indent(got))
			}
			for i, it := range items {
				if it.N != i+1 {
					t.Errorf("item %d has number %d", i+1, it.N)
				}
				if it.Kind == memoir.ItemTool && !it.Shell() {
					t.Errorf("%s is a shell tool", it.Tool)
				}
			}
			if stats.Items != len(items) || stats.Malformed != 0 || stats.CutTail || stats.Undone != 0 || len(stats.Unknown) != 0 {
				t.Errorf("stats %+v", stats)
			}
			if head := probe(t, path); head.Source != c.source || head.Kind != memoir.KindMain || head.ID == "" {
				t.Errorf("head %+v", head)
			}
			again, _ := read(t, path)
			if !reflect.DeepEqual(items, again) || sum(items) != sum(again) {
				t.Error("reading twice gives something else")
			}
			packed, _ := read(t, compress(t, path))
			if !reflect.DeepEqual(items, packed) {
				t.Error("a compressed copy gives something else")
			}
			for name, content := range disguises(c.records, c.lines) {
				other := filepath.Join(t.TempDir(), "x")
				writeAt(t, other, content)
				if got, _ := read(t, other); !reflect.DeepEqual(items, got) {
					t.Errorf("%s gives\n%s", name, indent(sketch(got)))
				}
			}
			if c.lines {
				checkPrefixes(t, c.records, items, 1)
			}
		})
	}
}

// disguises are ways to write the same records.
func disguises(records []string, lines bool) map[string]string {
	out := map[string]string{
		"a byte order mark":  "\xEF\xBB\xBF" + strings.Join(records, "\n") + "\n",
		"CRLF":               strings.Join(records, "\r\n") + "\r\n",
		"no final newline":   strings.Join(records, "\n"),
		"blank lines":        "\n\n" + strings.Join(records, "\n\n") + "\n\n",
		"a run of NUL after": strings.Join(records, "\n") + "\n" + strings.Repeat("\x00", 4096),
	}
	if lines {
		out["glued records"] = strings.Join(records, "")
		out["a cut last line"] = strings.Join(records, "\n") + "\n" + records[len(records)-1][:len(records[len(records)-1])/2]
		out["garbage between"] = strings.Join(records, "\n<<<<<<<\n{oops}\n")
	}
	return out
}

func sum(items []memoir.Item) string {
	var h Hasher
	for _, it := range items {
		h.Add(it)
	}
	return h.Sum()
}

// checkPrefixes reads the first n records for every step-th n: what they give is
// what the whole gives first, but for what is not finished at the cut: the last
// message, and calls whose results are still to come.
func checkPrefixes(t *testing.T, records []string, whole []memoir.Item, step int) {
	t.Helper()
	for n := 1; n < len(records); n += step {
		path := write(t, "prefix.jsonl", records[:n]...)
		head, err := Probe(Entry{File: memoir.File{Path: path}})
		if err != nil {
			continue // nothing recognisable yet
		}
		items, _ := readParts(t, []Part{{Path: path, Head: head}})
		for len(items) > 0 {
			last := items[len(items)-1]
			if last.Kind != memoir.ItemTool || last.Output != "" {
				break
			}
			items = items[:len(items)-1]
		}
		if len(items) > 0 {
			items = items[:len(items)-1]
		}
		if len(items) > len(whole) || sum(items) != sum(whole[:len(items)]) {
			t.Errorf("the first %d records give\n%s", n, indent(sketch(items)))
			return
		}
	}
}

func TestReadStopsWhenItIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		path := write(t, "session.jsonl", c.records...)
		parts := []Part{{Path: path, Head: probe(t, path)}}
		full := errors.New("full")
		n := 0
		stats, err := Read(t.Context(), parts, func(memoir.Item) error {
			n++
			return full
		})
		if !errors.Is(err, full) || n != 1 || stats.Items != 1 {
			t.Errorf("%s: error %v after %d items", c.name, err, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Read(ctx, parts, func(memoir.Item) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v when cancelled", c.name, err)
		}
	}
	if _, err := Read(t.Context(), nil, nil); memoir.CodeOf(err) != memoir.CodeUnreadable {
		t.Errorf("no parts: %v", err)
	}
	if _, err := Read(t.Context(), []Part{{Path: "/nothing", Head: Head{Source: memoir.SourceCodex}}}, nil); memoir.CodeOf(err) != memoir.CodeUnreadable {
		t.Errorf("a file that is gone: %v", err)
	}
}

func TestHashCoversWhatWasSaidAndDone(t *testing.T) {
	t.Parallel()
	one, two := 1, 2
	base := memoir.Item{N: 1, Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash", Input: "ls", Output: "x", Exit: &one}
	change := func(f func(*memoir.Item)) string {
		it := base
		f(&it)
		return sum([]memoir.Item{it})
	}
	if same := change(func(it *memoir.Item) { it.N, it.CWD, it.Branch = 9, "/w", "b" }); same != sum([]memoir.Item{base}) {
		t.Error("place and number are not content")
	}
	others := []string{
		change(func(it *memoir.Item) { it.Kind = memoir.ItemMessage }), change(func(it *memoir.Item) { it.Role = "user" }),
		change(func(it *memoir.Item) { it.Origin = memoir.OriginShell }), change(func(it *memoir.Item) { it.Text = "x" }),
		change(func(it *memoir.Item) { it.Tool = "sh" }), change(func(it *memoir.Item) { it.Input, it.Output = "l", "sx" }),
		change(func(it *memoir.Item) { it.Exit = nil }), change(func(it *memoir.Item) { it.Exit = &two }),
		sum(nil), sum([]memoir.Item{base, base}), sum([]memoir.Item{base}),
	}
	slices.Sort(others)
	if n := len(slices.Compact(others)); n != 11 {
		t.Errorf("%d different hashes of 11 contents", n)
	}
}

func FuzzReadersNeverPanic(f *testing.F) {
	for _, c := range conversations {
		f.Add([]byte(strings.Join(c.records, "\n")))
	}
	f.Add([]byte(strings.Join(cx(cxMeta(`,"forked_from_id":"x","history_base":{}`), `event_msg {"type":"thread_rolled_back","num_turns":9}`, `compacted {"message":1}`), "\n")))
	f.Add([]byte(strings.Join(cx(cxMeta(`,"history_mode":"paginated","subagent_history_start_ordinal":1`), cxCall("1", "exec_command", `{"cmd":"a"}`), cxRuns("1", 7, "x"), cxPoll("2", 7, "y"), cxRuns("2", 7, "z"),
		`event_msg {"type":"item_completed","item":{"type":"CommandExecution","id":"1","command":["a"],"exit_code":-1}}`, `event_msg {"type":"thread_goal_updated","goal":{"objective":"g"}}`, cxPoll("3", 7, ""), cxExits("3", 1, "")), "\n")))
	f.Add([]byte(`{"type":"user","uuid":"a","parentUuid":"a","sessionId":"s","message":{"content":[{"type":"tool_result"},{"type":"text"},1,null]}}`))
	f.Add([]byte(piV3 + "\n" + `{"type":"message","id":"1","parentId":"1","message":null}`))
	f.Add([]byte(`{"sessionId":"s","projectHash":"h","messages":[{"id":"1","type":"gemini","toolCalls":[{}]},1,[],{}`))
	f.Add([]byte(`{"$set":{"sessionId":"s","projectHash":"h","directories":[1],"messages":[{"id":"1","type":"user","content":{}},null]}}` + "\n" + `{"$rewindTo":"1"}` + "\n" + `{"id":"1","type":"gemini","content":[{"functionCall":1}]}`))
	f.Add([]byte(`{"uuid":"a","parentUuid":"a","sessionId":"s","type":"tool_result","message":{"parts":[{"functionResponse":null},1]},"forkedFrom":{"sessionId":"s"}}`))
	f.Add([]byte(`{"type":"session.start","data":{}}` + "\n" + `{"type":"session.snapshot_rewind","data":{"upToEventId":"x","eventIds":[1]}}` + "\n" + `{"type":"tool.execution_complete","data":{"toolCallId":"c","result":1}}`))
	f.Add([]byte(piV3 + "\n" + pe("1", "1", `"type":"custom_message","attribution":"user","details":1`)))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := os.CreateTemp(dir, "x")
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file.Name())
		if _, err := file.Write(content); err != nil {
			t.Fatal(err)
		}
		file.Close()
		head, err := Probe(Entry{File: memoir.File{Path: file.Name()}})
		if err != nil {
			if memoir.CodeOf(err) != memoir.CodeUnreadable {
				t.Errorf("probe: %v", err)
			}
			return
		}
		size := 0
		items, _ := readParts(t, []Part{{Path: file.Name(), Head: head}})
		for i, it := range items {
			size += len(it.Text) + len(it.Input) + len(it.Output)
			if it.N != i+1 || it.Kind == "" || it.Role == "" || it.Origin == "" {
				t.Errorf("item %+v", it)
			}
			if it.Kind == memoir.ItemMessage && strings.TrimSpace(it.Text) == "" {
				t.Error("an empty message")
			}
		}
		if size > 4*len(content)+1000 {
			t.Errorf("%d bytes of items from %d bytes", size, len(content))
		}
	})
}
