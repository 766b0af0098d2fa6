package rollout

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

const qwenID = "eeeeeeee-0000-4000-8000-000000000001"

// qw makes a line of records, each the child of the one before: type, then the other
// members. "id<parent " before a record gives it that id and parent.
func qw(records ...string) []string {
	var out []string
	last := ""
	for i, r := range records {
		id, parent := fmt.Sprintf("q%d", i), last
		if mark, rest, ok := strings.Cut(r, " "); ok && strings.Contains(mark, "<") {
			id, parent, _ = strings.Cut(mark, "<")
			r = rest
		}
		kind, members, _ := strings.Cut(r, " ")
		p := "null"
		if parent != "" {
			p = q(parent)
		}
		out = append(out, `{"uuid":"`+id+`","parentUuid":`+p+`,"sessionId":"`+qwenID+`","timestamp":"2026-04-02T10:00:0`+fmt.Sprint(i%10)+`.000Z","type":"`+kind+
			`","cwd":"/w/app","version":"0.24.4","gitBranch":"main",`+members+`}`)
		last = id
	}
	return out
}

func qwUser(s string) string {
	return `user "provenance":"real_user","message":{"role":"user","parts":[{"text":` + q(s) + `}]}`
}

func qwAgent(s string) string {
	return `assistant "model":"m","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":` + q(s) + `}]}`
}

func qwCall(id, tool, args string) string {
	return `assistant "message":{"role":"model","parts":[{"functionCall":{"id":"` + id + `","name":"` + tool + `","args":` + args + `}}]}`
}

func qwResult(id, tool, output, extra string) string {
	return `tool_result "message":{"role":"user","parts":[{"functionResponse":{"id":"` + id + `","name":"` + tool + `","response":{"output":` + q(output) + `}}}]}` + extra
}

func TestQwenGivesItems(t *testing.T) {
	t.Parallel()
	framed := func(body, code string) string {
		return "Command: make\nDirectory: (root)\nOutput: " + body + "\nError: (none)\nExit Code: " + code + "\nSignal: (none)\nProcess Group PGID: (none)"
	}
	play(t, qwenID+".jsonl", qw, []scene{
		{"a turn", []string{qwUser("hi"), qwAgent("hello")}, []string{"typed: hi", "agent!: hello"}},
		{"a call and its result", []string{qwCall("c1", "run_shell_command", `{"command":"make"}`), `system "subtype":"ui_telemetry","systemPayload":{"uiEvent":{"response_text":"no"}}`, qwResult("c1", "run_shell_command", framed("no rule", "2"), "")},
			[]string{"run_shell_command(make) !2 no rule"}},
		{"a call that failed without output", []string{qwCall("c1", "run_shell_command", `{"command":"false"}`), qwResult("c1", "run_shell_command", framed("(empty)", "1"), `,"toolCallResult":{"callId":"c1","status":"error","resultDisplay":{"exitCode":1}}`)},
			[]string{"run_shell_command(false) !1"}},
		{"a call that was cancelled", []string{qwCall("c1", "edit", `{"file_path":"a"}`), `tool_result "message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"edit","response":{"error":"[Operation Cancelled] Reason: User did not allow"}}}]},"toolCallResult":{"callId":"c1","status":"cancelled"}`},
			[]string{`edit({"file_path":"a"}) ! [Operation Cancelled] Reason: User did not allow`}},
		{"a rewind", []string{qwUser("a"), "A<q0 " + qwAgent("A"), "o<A " + qwUser("old"), "O<o " + qwAgent("OLD"), `r<A system "subtype":"rewind","systemPayload":{"targetTurnIndex":1}`, "n<r " + qwUser("new")},
			[]string{"typed: a", "agent!: A", "typed: new"}},
		{"a record beside the conversation", []string{qwUser("a"), "A<q0 " + qwAgent("A"), `x<q0 system "subtype":"session_artifact_event","systemPayload":{}`}, []string{"typed: a", "agent!: A"}},
		{"a lost parent", []string{qwUser("a"), "b<gone " + qwUser("b")}, []string{"typed: a", "typed: b"}},
		{"fragments of one record", []string{"a< " + qwAgent("one"), "a< " + qwAgent("two"), "a< " + qwAgent("two")}, []string{"agent!: one", "agent!: two"}},
		{"what was typed meanwhile", []string{`user "subtype":"mid_turn_user_message","message":{"parts":[{"text":"<system-reminder>x</system-reminder>and tests"}]},"systemPayload":{"displayText":"and tests"}`}, []string{"queued: and tests"}},
		{"who else speaks as the user", []string{`user "subtype":"notification","provenance":"system","message":{"parts":[{"text":"done"}]}`, `user "subtype":"cron","message":{"parts":[{"text":"tick"}]}`,
			`user "subtype":"goal_runtime","provenance":"goal_runtime","message":{"parts":[{"text":"go on"}]}`, `user "provenance":"system","message":{"parts":[{"text":"x"}]}`,
			`user "subtype":"mid_turn_user_message","provenance":["hook"],"message":{"parts":[{"text":"y"}]}`}, nil},
		{"a hook's context", []string{`user "message":{"parts":[{"text":"hi"},{"text":"<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>"}]},"systemPayload":{"hookContext":"x"}`}, []string{"typed: hi"}},
		{"files that were put in", []string{qwUser("explain @a.go\n--- Content from referenced files ---\npackage a\n--- End of content ---")}, []string{"typed: explain @a.go"}},
		{"images", []string{`user "message":{"parts":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`}, []string{"typed: see"}},
		{"a command of the client", []string{`system "subtype":"slash_command","systemPayload":{"phase":"invocation","rawCommand":"/model x"}`, `system "subtype":"slash_command","systemPayload":{"phase":"result","rawCommand":"/model x","outputHistoryItems":[]}`, qwUser("hi")},
			[]string{"slash_command: /model x", "typed: hi"}},
		{"a command that stands for a prompt", []string{`system "subtype":"slash_command","systemPayload":{"phase":"invocation","rawCommand":"/review api","sentToModel":true}`, qwUser("Review with care: api"), qwUser("hi")},
			[]string{"slash_command: /review api", "typed: hi"}},
		{"a command of the person", []string{qwUser("I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.go\n```")}, []string{"user_shell(ls) = a.go"}},
		{"a compression", []string{qwUser("hi"), `system "subtype":"chat_compression","systemPayload":{"info":{},"compressedHistory":[{"role":"user","parts":[{"text":"so far\n\nResume the prior task using the summary above. Go on."}]},{"role":"model","parts":[{"text":"Got it. Thanks for the additional context!"}]}]}`},
			[]string{"typed: hi", "compaction_summary: so far"}},
		{"our own block", []string{qwUser("<memoir-context>x</memoir-context>\nhi")}, []string{"typed: hi"}},
	})
}

func TestQwenHead(t *testing.T) {
	t.Parallel()
	checkHeads(t, memoir.SourceQwen, qw, []headScene{
		{"a session", qwenID + ".jsonl", []string{qwUser("hi there")}, Head{Kind: memoir.KindMain, ID: qwenID, ParentID: "", Title: "hi there", CWD: "/w/app", Branch: "main"}},
		{"a title", qwenID + ".jsonl", []string{qwUser("hi"), `system "subtype":"custom_title","systemPayload":{"customTitle":"One"}`, `system "subtype":"custom_title","systemPayload":{"customTitle":"Two","titleSource":"auto"}`}, Head{Kind: memoir.KindMain, ID: qwenID, ParentID: "", Title: "Two", CWD: "/w/app", Branch: "main"}},
		{"a schedule", qwenID + ".jsonl", []string{`system "subtype":"session_source","systemPayload":{"sourceType":"scheduled_task"}`, qwUser("hi")}, Head{Kind: memoir.KindAutomation, ID: qwenID, ParentID: "", Title: "hi", CWD: "/w/app", Branch: "main"}},
		{"a source in another form", qwenID + ".jsonl", []string{`system "subtype":"session_source","systemPayload":{"sourceType":{"hook":"x"}}`, qwUser("hi")}, Head{Kind: memoir.KindAutomation, ID: qwenID, ParentID: "", Title: "hi", CWD: "/w/app", Branch: "main"}},
		{"a run of a schedule", qwenID + ".jsonl", []string{`system "subtype":"session_source","systemPayload":{"sourceType":"default","sourceId":"scheduled_task_run:7"}`, qwUser("hi")}, Head{Kind: memoir.KindAutomation, ID: qwenID, ParentID: "", Title: "hi", CWD: "/w/app", Branch: "main"}},
		{"a gateway", qwenID + ".jsonl", []string{`system "subtype":"session_source","systemPayload":{"sourceType":"managed-gateway"}`, qwUser("hi")}, Head{Kind: memoir.KindAutomation, ID: qwenID, ParentID: "", Title: "hi", CWD: "/w/app", Branch: "main"}},
		{"a child", qwenID + ".jsonl", []string{`system "subtype":"parent_session","systemPayload":{"parentSessionId":"p1"}`, qwUser("hi")}, Head{Kind: memoir.KindMain, ID: qwenID, ParentID: "p1", Title: "hi", CWD: "/w/app", Branch: "main"}},
		{"a sub-agent", "subagents/" + qwenID + "/agent-scout_1.jsonl", []string{`user "agentId":"scout_1","isSidechain":true,"message":{"parts":[{"text":"look"}]}`}, Head{Kind: memoir.KindSubagent, ID: "agent-scout_1", ParentID: qwenID, Title: "look", CWD: "/w/app", Branch: "main"}},
		{"our own run", qwenID + ".jsonl", []string{qwUser("memoir:own-run\nextract")}, Head{Kind: memoir.KindOwnRun, ID: qwenID, ParentID: "", Title: "memoir:own-run", CWD: "/w/app", Branch: "main"}},
	})
}

func TestQwenForkGivesWhatItsParentDoesNot(t *testing.T) {
	t.Parallel()
	const parentID = "eeeeeeee-0000-4000-8000-000000000002"
	records := qw("a< "+qwUser("a"), qwAgent("A"), qwUser("b"))
	fork := make([]string, 0, 3)
	for _, r := range records[:2] {
		id, _, _ := strings.Cut(strings.TrimPrefix(r, `{"uuid":"`), `"`)
		fork = append(fork, strings.TrimSuffix(r, "}")+`,"forkedFrom":{"sessionId":"`+parentID+`","messageUuid":"`+id+`"}}`)
	}
	fork = append(fork, qw("x<q1 "+qwUser("c"))...)
	parent := strings.ReplaceAll(strings.Join(records, "\n"), qwenID, parentID)
	for _, place := range []string{"chats", "chats/archive", ""} {
		dir := t.TempDir()
		if place != "" {
			writeAt(t, filepath.Join(dir, place, parentID+".jsonl"), parent)
		}
		file := filepath.Join(dir, "chats", qwenID+".jsonl")
		writeAt(t, file, strings.Join(fork, "\n"))
		want := []string{"typed: c"}
		if place == "" {
			want = []string{"typed: a", "agent!: A", "typed: c"}
		}
		items, _ := read(t, file)
		expect(t, items, want...)
		if parent := probe(t, file).ParentID; parent != parentID {
			t.Errorf("parent in %q: %s", place, parent)
		}
	}
}
