package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
)

const geminiHead = `"sessionId":"dddddddd-0000-4000-8000-000000000001","projectHash":"abc","startTime":"2026-01-09T18:08:00.000Z","lastUpdated":"2026-01-09T18:09:00.000Z"`

func geminiDoc(messages ...string) string {
	return "{" + geminiHead + `,"messages":[` + strings.Join(messages, ",") + "]}"
}

func gm(id, kind, content, extra string) string {
	return `{"id":"` + id + `","timestamp":"2026-01-09T18:08:30.000Z","type":"` + kind + `","content":` + content + extra + `}`
}

func TestGeminiGivesItems(t *testing.T) {
	t.Parallel()
	shell := `,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"id":"c1","response":{"output":` +
		q("Command: make\nDirectory: (root)\nOutput: no rule\nError: (none)\nExit Code: 2\nSignal: 0") + `}}}]}]`
	play(t, "session.json", func(messages ...string) []string { return []string{geminiDoc(messages...)} }, []scene{
		{"a turn", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"parts", []string{gm("1", "user", `[{"text":"hi"},{"inlineData":{"data":"AAAA"}}]`, "")}, []string{"typed: hi"}},
		{"a shell call", []string{gm("1", "gemini", `"I run it"`, shell)}, []string{"agent: I run it", "run_shell_command(make) !2 no rule"}},
		{"a failed call", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c","name":"read_file","args":{ "file_path" : "a" },"status":"error","result":[{"functionResponse":{"response":{"error":"no such file"}}}]}]`)},
			[]string{`read_file({"file_path":"a"}) ! no such file`}},
		{"a call that was cancelled", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c","name":"edit","args":{},"status":"cancelled"}]`)}, []string{"edit({}) !"}},
		{"what the client says", []string{gm("1", "info", `"update available"`, ""), gm("2", "error", `"quota"`, ""), gm("3", "user", `"System: Please continue."`, "")}, nil},
		{"what was typed before files were put in", []string{gm("1", "user", `"explain\n--- a.go ---\npackage a"`, `,"displayContent":"explain @a.go"`)}, []string{"typed: explain @a.go"}},
		{"files that were put in", []string{gm("1", "user", q("explain @a.go\n--- Content from referenced files ---\nContent from @a.go:\npackage a\n--- End of content ---"), "")}, []string{"typed: explain @a.go"}},
		{"a command of the client", []string{gm("1", "user", `"/compress"`, "")}, []string{"slash_command: /compress"}},
		{"a command of the person", []string{gm("1", "user", `[{"text":`+q("I ran the following shell command:\n```sh\necho \\`id\\`\n```\n\nThis produced the following result:\n```\nCommand exited with code 2.\nno\n```")+`}]`, "")}, []string{"user_shell(echo `id`) !2 no"}},
		{"a plan that was refused", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"p","name":"exit_plan_mode","args":{},"status":"success","result":[{"functionResponse":{"id":"p","response":{"output":`+q("Plan rejected. User feedback: no cobra\n\nThe plan is stored at: /p\nRevise the plan based on the feedback.")+`}}}]}]`)},
			[]string{"exit_plan_mode({}) = Plan rejected. User feedback: no cobra\n\nThe plan is stored at: /p\nRevise the plan based on the feedback.", "rejection: no cobra"}},
		{"a result that is only shown", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c1","name":"read_file","args":{},"status":"success","resultDisplay":"a file"}]`)}, []string{"read_file({}) = a file"}},
		{"an exit code without a frame", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"no rule\nExit Code: 2"}}}]}]`)}, []string{"run_shell_command(make) !2 no rule"}},
		{"a frame in the output of a frame", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"Command: make\nDirectory: (root)\nStdout: a\nOutput: b\nExit Code: 2"}}}]}]`)}, []string{"run_shell_command(make) !2 a\nOutput: b"}},
		{"a response that is an object", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c1","name":"x","args":{},"status":"success","result":[{"functionResponse":{"response":{"output":{"k": 1}}}}]}]`)}, []string{`x({}) = {"k":1}`}},
		{"content with its parts", []string{gm("1", "user", `{"role":"user","parts":[{"text":"hi"}]}`, "")}, []string{"typed: hi"}},
		{"thinking", []string{gm("1", "gemini", `[{"text":"hm","thought":true},{"text":"hello"}]`, `,"thoughts":[{"subject":"s","description":"d"}]`)}, []string{"agent: hello"}},
		{"a frame of later versions", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":`+
			q("<untrusted_context>\nOutput: a\nb\nExit Code: 3\nProcess Group PGID: 29\n</untrusted_context>")+`}}}]}]`)}, []string{"run_shell_command(make) !3 a\nb"}},
		{"output that looks like the frame", []string{gm("1", "gemini", `""`, `,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"id":"c1","response":{"output":`+
			q("Command: make\nDirectory: (root)\nOutput: x\nSignal: up\nError: (none)\nExit Code: 0\nSignal: (none)")+`}}}]}]`)}, []string{"run_shell_command(make) =0 x\nSignal: up"}},
		{"our own block", []string{gm("1", "user", `"<memoir-context>x</memoir-context>\nhi"`, "")}, []string{"typed: hi"}},
		{"an injected context", []string{gm("1", "user", `"<session_context>\nToday\n</session_context>"`, ""), gm("2", "user", `"hi"`, "")}, []string{"typed: hi"}},
	})
}

func TestGeminiReadsLines(t *testing.T) {
	t.Parallel()
	lines := func(lines ...string) []string {
		return append([]string{"{" + geminiHead + `,"kind":"main"}`}, lines...)
	}
	play(t, "session.jsonl", lines, []scene{
		{"messages", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"a later line replaces an earlier", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hel"`, ""), gm("2", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"a rewind", []string{gm("1", "user", `"hi"`, ""), gm("2", "user", `"old"`, ""), gm("3", "gemini", `"OLD"`, ""), `{"$rewindTo":"2"}`, gm("4", "user", `"new"`, "")}, []string{"typed: hi", "typed: new"}},
		{"a replaced list", []string{gm("1", "user", `"old"`, ""), `{"$set":{"messages":[` + gm("2", "user", `"hi"`, "") + `]}}`, gm("3", "gemini", `"hello"`, "")}, []string{"typed: hi", "agent: hello"}},
		{"a list that is the only carrier", []string{`{"$set":{"messages":[` + gm("1", "user", `"hi"`, "") + "," + gm("2", "gemini", `"hello"`, "") + `]}}`}, []string{"typed: hi", "agent: hello"}},
		{"a rewind into a list", []string{`{"$set":{"messages":[` + gm("1", "user", `"hi"`, "") + "," + gm("2", "user", `"old"`, "") + `]}}`, `{"$rewindTo":"2"}`, gm("3", "user", `"new"`, "")}, []string{"typed: hi", "typed: new"}},
		{"a rewind to what nobody knows", []string{gm("1", "user", `"old"`, ""), `{"$rewindTo":"9"}`, gm("3", "user", `"new"`, "")}, []string{"typed: new"}},
		{"a resumption", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"I run"`, `,"toolCalls":[{"id":"c","name":"run_shell_command","args":{"command":"ls"},"status":"success","result":[{"functionResponse":{"id":"c","name":"run_shell_command","response":{"output":"Output: a"}}}]}]`),
			"{" + strings.Replace(geminiHead, "18:08", "19:00", 1) + `,"kind":"main"}`, `{"$set":{"messages":[` + gm("0", "user", `"<session_context>x</session_context>"`, "") + `]}}`,
			`{"$set":{"messages":[` + gm("0", "user", `"<session_context>x</session_context>"`, "") + "," + gm("1", "user", `[{"text":"hi"}]`, "") + "," +
				gm("2", "gemini", `[{"text":"I run"},{"functionCall":{"id":"c","name":"run_shell_command","args":{"command":"ls"}}}]`, "") + "," +
				gm("2", "user", `[{"functionResponse":{"id":"c","name":"run_shell_command","response":{"output":"Output: a"}}}]`, "") + "," +
				gm("3", "user", `[{"functionResponse":{"id":"c","name":"run_shell_command","response":{"output":"Output: a"}}}]`, "") + `]}}`, gm("4", "user", `"more"`, "")},
			[]string{"typed: hi", "agent: I run", "run_shell_command(ls) = a", "typed: more"}},
		{"a compression keeps what was said", []string{gm("1", "user", `"hi"`, ""), gm("2", "gemini", `"hello"`, ""), `{"$set":{"messages":[` + gm("9", "user", q("<state_snapshot>so far</state_snapshot>"), "") + "," + gm("2", "gemini", `"hello"`, "") + `]}}`, gm("3", "user", `"on"`, "")},
			[]string{"typed: hi", "agent: hello", "compaction_summary: <state_snapshot>so far</state_snapshot>", "typed: on"}},
		{"messages without ids", []string{`{"type":"user","content":"yes"}`, `{"type":"gemini","content":"a"}`, `{"type":"user","content":"yes"}`, `{"type":"gemini","content":"b"}`},
			[]string{"typed: yes", "agent: a", "typed: yes", "agent: b"}},
		{"calls that are none", []string{gm("1", "gemini", `"a"`, `,"toolCalls":[null,5,"x"]`), gm("2", "gemini", `5`, `,"toolCalls":"x"`)}, []string{"agent: a"}},
		{"a patch of something else", []string{gm("1", "user", `"hi"`, ""), `{"$set":{"lastUpdated":"2026-01-09T18:10:00.000Z"}}`}, []string{"typed: hi"}},
	})
}

func TestGeminiPatchesUpdateTheHead(t *testing.T) {
	t.Parallel()
	head := probe(t, write(t, "session.jsonl", "{"+geminiHead+"}", gm("1", "user", `"hi"`, ""), `{"$set":{"summary":"A greeting","lastUpdated":"2026-01-09T20:00:00.000Z"}}`))
	if want := time.Date(2026, 1, 9, 20, 0, 0, 0, time.UTC); head.Title != "A greeting" || !head.UpdatedAt.Equal(want) || head.Kind != memoir.KindMain {
		t.Errorf("head %+v", head)
	}
	carrier := probe(t, write(t, "session.jsonl", `{"$set":{`+geminiHead+`,"messages":[`+gm("1", "user", `"hi"`, "")+`]}}`))
	if carrier.Source != memoir.SourceGemini || carrier.ID != head.ID || carrier.Title != "hi" || !carrier.CreatedAt.Equal(head.CreatedAt) {
		t.Errorf("head %+v", carrier)
	}
	items, _ := read(t, write(t, "session.jsonl", `{"$set":{`+geminiHead+`,"messages":[`+gm("1", "user", `"hi"`, "")+`]}}`))
	expect(t, items, "typed: hi")
}

func TestGeminiProjectIsFoundWhereItIsKnown(t *testing.T) {
	t.Parallel()
	const dir = "/home/m/src/a-b"
	sum := sha256.Sum256([]byte(dir))
	hash := hex.EncodeToString(sum[:])
	tests := []struct {
		name, project string
		beside        map[string]string // in the client's directory
		extra         string            // of the head
		want          string
	}{
		{"written beside", "work", map[string]string{"tmp/work/.project_root": dir + "\n"}, "", dir},
		{"a short name in the list", "work", map[string]string{"projects.json": `{"projects":{"/home/m/other":"work-1","` + dir + `":"work"}}`}, "", dir},
		{"a hash of a project in the list", hash, map[string]string{"projects.json": `{"projects":{"/home/m/other":"x","` + dir + `":"a-b"}}`}, "", dir},
		{"a hash of a trusted folder", hash, map[string]string{"trustedFolders.json": `{"/home/m":"TRUST_PARENT","` + dir + `":"TRUST_FOLDER"}`}, "", dir},
		{"the hash decides between a list and a file", "work", map[string]string{"tmp/work/.project_root": "/home/m/moved", "projects.json": `{"projects":{"` + dir + `":"work"}}`}, "", dir},
		{"a hash of nobody knows what", hash, map[string]string{"projects.json": `{"projects":{"/home/m/other":"x"}}`}, "", ""},
		{"a list that is broken", "work", map[string]string{"projects.json": `{"projects":{`}, "", ""},
		{"a relative path", "work", map[string]string{"tmp/work/.project_root": "../../etc"}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(t.TempDir(), ".gemini")
			for name, content := range tt.beside {
				writeAt(t, filepath.Join(home, name), content)
			}
			line := "{" + strings.Replace(geminiHead, `"abc"`, q(hash), 1) + `,"kind":"main"` + tt.extra + "}\n" + gm("1", "user", `"hi"`, "") + "\n"
			main := filepath.Join(home, "tmp", tt.project, "chats", "session-2026-01-09T18-08-dddddddd.jsonl")
			sub := filepath.Join(home, "tmp", tt.project, "chats", "dddddddd-0000-4000-8000-000000000001", "helper.jsonl")
			writeAt(t, main, line)
			writeAt(t, sub, strings.NewReplacer("000000000001", "000000000002", `"main"`, `"subagent"`).Replace(line))
			if head := probe(t, main); head.CWD != tt.want || head.Kind != memoir.KindMain {
				t.Errorf("directory %q, kind %s", head.CWD, head.Kind)
			}
			if head := probe(t, sub); head.CWD != tt.want || head.Kind != memoir.KindSubagent || head.ParentID != "dddddddd-0000-4000-8000-000000000001" {
				t.Errorf("sub-agent: %+v", head)
			}
			items, _ := read(t, sub)
			expect(t, items, "subagent_task: hi")
		})
	}
}

func TestGeminiSessionThatWentOnInLinesIsReadThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "session-1.json"), geminiDoc(gm("1", "user", `"hi"`, ""), gm("2", "gemini", q(strings.Repeat("long ", 1000)), "")))
	writeAt(t, filepath.Join(dir, "session-1.jsonl"), "{"+geminiHead+"}\n"+gm("1", "user", `"hi"`, "")+"\n"+gm("3", "user", `"on"`, "")+"\n")
	items, _ := read(t, filepath.Join(dir, "session-1.json"), filepath.Join(dir, "session-1.jsonl"))
	expect(t, items, "typed: hi", "typed: on")
}

func TestGeminiKeepsTheTimeOfTheFirstWriting(t *testing.T) {
	t.Parallel()
	later := strings.Replace(gm("1", "user", `[{"text":"hi"}]`, ""), "18:08", "19:00", 1)
	items, _ := read(t, write(t, "session.jsonl", "{"+geminiHead+"}", gm("1", "user", `"hi"`, ""), `{"$set":{"messages":[`+later+`]}}`))
	expect(t, items, "typed: hi")
	if want := time.Date(2026, 1, 9, 18, 8, 30, 0, time.UTC); !items[0].At.Equal(want) {
		t.Errorf("said at %v", items[0].At)
	}
}

func TestGeminiKnowsAHeadWithoutTheProjectHash(t *testing.T) {
	t.Parallel()
	const head = `"sessionId":"s-1","startTime":"2026-01-09T18:08:00.000Z","kind":"main"`
	for name, path := range map[string]string{
		"lines":              write(t, "a.jsonl", "{"+head+"}", gm("1", "user", `"hi"`, "")),
		"a document":         write(t, "b.json", pretty(t, "{"+head+`,"messages":[`+gm("1", "user", `"hi"`, "")+"]}")),
		"sorted members":     write(t, "d.json", pretty(t, `{"kind":"main","messages":[`+gm("1", "user", `"hi"`, "")+`],"sessionId":"s-1","startTime":"2026-01-09T18:08:00.000Z"}`)),
		"a document, a line": write(t, "c.json", "{"+head+`,"messages":[`+gm("1", "user", `"hi"`, "")+"]}"),
	} {
		items, _ := read(t, path)
		expect(t, items, "typed: hi")
		if h := probe(t, path); h.Source != memoir.SourceGemini || h.ID != "s-1" {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

func TestGeminiCountsRecordsThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	_, stats := read(t, write(t, "a.jsonl", "{"+geminiHead+`,"kind":"main"}`, gm("1", "user", `"hi"`, ""), gm("2", "vision", `"x"`, ""), `{"other":1}`, `{"$set":{"a":1}}`))
	if stats.Unknown["vision"] != 1 || stats.Unknown["(none)"] != 1 || len(stats.Unknown) != 2 {
		t.Errorf("unknown %v", stats.Unknown)
	}
}
