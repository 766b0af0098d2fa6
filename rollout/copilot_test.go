package rollout

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
)

const copilotID = "ffffffff-0000-4000-8000-000000000001"

// cp makes a line of events: type, then the members of data.
func cp(events ...string) []string {
	var out []string
	for i, e := range events {
		kind, members, _ := strings.Cut(e, " ")
		extra := ""
		if kind, id, ok := strings.Cut(kind, "@"); ok { // of a sub-agent
			e, extra = kind, `"agentId":"`+id+`",`
		}
		kind, _, _ = strings.Cut(e, " ")
		out = append(out, fmt.Sprintf(`{"type":"%s","data":{%s},%s"id":"v%d","timestamp":"2026-06-03T09:00:0%d.000Z","parentId":null}`, kind, members, extra, i, i%10))
	}
	return out
}

var cpStart = `session.start "sessionId":"` + copilotID + `","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-06-03T08:59:59.000Z","context":{"cwd":"/w/app","branch":"main"}`

func cpUser(s string) string {
	return `user.message "content":` + q(s) + `,"transformedContent":` + q("<current_datetime>now</current_datetime>\n\n"+s) + `,"delivery":"idle"`
}

func cpAgent(s string, requests ...string) string {
	return `assistant.message "content":` + q(s) + `,"reasoningText":"hm","toolRequests":[` + strings.Join(requests, ",") + `]`
}

func cpRequest(id, tool, arguments string) string {
	return `{"toolCallId":"` + id + `","name":"` + tool + `","arguments":` + arguments + `}`
}

func cpDone(id, output, extra string) string {
	return `tool.execution_complete "toolCallId":"` + id + `","success":true,"result":{"content":` + q(output) + `}` + extra
}

func TestCopilotGivesItems(t *testing.T) {
	t.Parallel()
	events := func(lines ...string) []string { return cp(append([]string{cpStart}, lines...)...) }
	play(t, copilotID+"/events.jsonl", events, []scene{
		{"a turn", []string{`system.message "content":"You are"`, cpUser("hi"), `assistant.reasoning "content":"hm"`, cpAgent("hello"), `session.usage_record "usage":{}`}, []string{"typed: hi", "agent!: hello"}},
		{"a call and its result", []string{cpAgent("I run it", cpRequest("c1", "bash", `{"command":"make","description":"d"}`)), `tool.execution_start "toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}`,
			cpDone("c1", "no rule\n<shellId: 0 completed with exit code 2>", `,"shellExecution":{"exitCode":2}`)}, []string{"agent: I run it", "bash(make) !2 no rule"}},
		{"results and errors that are strings", []string{cpAgent("", cpRequest("c1", "bash", q(`{"command":"make"}`)), "null", cpRequest("c2", "view", "null")),
			`tool.execution_complete "toolCallId":"c1","success":true,"result":"built\n<exited with exit code 3>"`, `tool.execution_complete "toolCallId":"c2","success":false,"error":"no such file"`},
			[]string{"bash(make) !3 built", "view() ! no such file"}},
		{"content of other types", []string{`user.message "content":["a",null,{"type":"text","text":"b"}]`, `user.message "content":{"text":"c"}`, `user.message "content":null`}, []string{"typed: a\nb", "typed: c"}},
		{"a compaction's summary by its other name", []string{`session.compaction_complete "success":true,"summary":"so far"`, `session.compaction_complete "success":false,"summary":"not done"`}, []string{"compaction_summary: so far"}},
		{"an exit code of earlier versions", []string{cpAgent("", cpRequest("c1", "bash", `{"command":"make"}`)), cpDone("c1", "built\n<exited with exit code 0>", "")}, []string{"bash(make) =0 built"}},
		{"a call that failed", []string{cpAgent("", cpRequest("c1", "view", `{ "path" : "a" }`)), `tool.execution_complete "toolCallId":"c1","success":false,"error":{"message":"no such file"}`}, []string{`view({"path":"a"}) ! no such file`}},
		{"a patch", []string{cpAgent("", cpRequest("c1", "apply_patch", `"*** Begin Patch"`)), cpDone("c1", "ok", "")}, []string{"apply_patch(*** Begin Patch) = ok"}},
		{"what was typed while the agent was busy", []string{`user.message "content":"stop","delivery":"steering"`, `user.message "content":"then test","delivery":"queued"`}, []string{"queued: stop", "queued: then test"}},
		{"who else speaks as the user", []string{`user.message "content":"<skill-context name=\"x\">long</skill-context>"`, `user.message "content":"x","source":"skill-pdf"`, `user.message "content":"look","source":"agent-1"`,
			`user.message "content":"go on","isAutopilotContinuation":true`, `user.message "content":"","source":"system"`, `user.message "content":"x","source":{"hook":"y"}`, `system.notification "content":"<system_notification>x</system_notification>"`, `skill.invoked "name":"pdf","content":"long"`}, nil},
		{"a person who is named", []string{`user.message "content":"hi","source":"user"`}, []string{"typed: hi"}},
		{"a command of the client", []string{cpUser("/compact")}, []string{"slash_command: /compact"}},
		{"a command of the person", []string{`tool.user_requested "toolCallId":"u1","toolName":"bash","arguments":{"command":"ls"}`, `tool.execution_start "toolCallId":"u1","toolName":"bash","arguments":{"command":"ls"}`, cpDone("u1", "a.go\n<exited with exit code 0>", `,"isUserRequested":true`)},
			[]string{"user_shell(ls) =0 a.go"}},
		{"a call that was refused with a reason", []string{cpAgent("", cpRequest("c1", "bash", `{"command":"rm -r x"}`)), `permission.requested "requestId":"r1","permissionRequest":{"kind":"shell","toolCallId":"c1"}`,
			`permission.completed "requestId":"r1","result":{"kind":"denied-interactively-by-user","feedback":"use git clean"}`, `tool.execution_complete "toolCallId":"c1","success":false,"error":{"message":"rejected","code":"rejected"}`},
			[]string{"bash(rm -r x) ! rejected", "rejection: use git clean"}},
		{"a call that a rule refused", []string{cpAgent("", cpRequest("c1", "bash", `{"command":"x"}`)), `permission.completed "toolCallId":"c1","result":{"kind":"denied-by-rules","feedback":"no"}`, `tool.execution_complete "toolCallId":"c1","success":false,"error":{"message":"denied"}`},
			[]string{"bash(x) ! denied"}},
		{"a plan that was refused", []string{`exit_plan_mode.completed "requestId":"r","approved":false,"feedback":"no cobra"`}, []string{"rejection: no cobra"}},
		{"a rewind", []string{cpUser("a"), cpUser("old"), cpAgent("OLD"), `session.snapshot_rewind "upToEventId":"v2","eventsRemoved":2`, cpUser("new")}, []string{"typed: a", "typed: new"}},
		{"a rewind of listed events", []string{cpUser("old"), cpUser("kept"), `session.snapshot_rewind "upToEventId":"v1","eventIds":["v1"]`, cpUser("new")}, []string{"typed: kept", "typed: new"}},
		{"a compaction", []string{cpUser("hi"), `session.compaction_complete "success":true,"summaryContent":"so far"`, `session.compaction_complete "success":false,"error":"x"`}, []string{"typed: hi", "compaction_summary: so far"}},
		{"a sub-agent", []string{cpAgent("", cpRequest("t1", "task", `{"prompt":"look"}`)), `subagent.started "toolCallId":"t1"`, `user.message@a1 "content":"look"`, `assistant.message "content":"inside","parentToolCallId":"t1"`,
			`tool.execution_start@a1 "toolCallId":"x","toolName":"bash","arguments":{}`, cpDone("t1", "found", "")}, []string{`task({"prompt":"look"}) = found`}},
		{"chunks of an answer", []string{`assistant.message "content":"one","chunkIndex":0,"chunkCount":2`, `assistant.message "content":"two","chunkIndex":1,"chunkCount":2`}, []string{"agent: one", "agent!: two"}},
		{"our own block", []string{cpUser("<memoir-context>x</memoir-context>\nhi")}, []string{"typed: hi"}},
	})
}

func TestCopilotHead(t *testing.T) {
	t.Parallel()
	const yml = "id: x\ncwd: /w/yml\nbranch: topic\nrepository: acme/lantern\nhost_type: github\nname: Named\nuser_named: true\n"
	bare := `session.start "sessionId":"` + copilotID + `"`
	tests := []struct {
		name, workspace string
		events          []string
		want            Head // what is set here
	}{
		{"a session", "", []string{cpStart, cpUser("hi there")}, Head{Kind: memoir.KindMain, Title: "hi there", CWD: "/w/app", Branch: "main"}},
		{"a schedule", "", []string{cpStart, `user.message "content":"tidy up","source":"schedule-7"`}, Head{Kind: memoir.KindAutomation, CWD: "/w/app", Branch: "main"}},
		{"what stands beside", yml, []string{bare, cpUser("hi")}, Head{Kind: memoir.KindMain, Title: "Named", CWD: "/w/yml", Branch: "topic", Remote: "https://github.com/acme/lantern"}},
		{"events come first", yml, []string{cpStart, cpUser("hi"), `session.title_changed "title":"Changed"`}, Head{Kind: memoir.KindMain, Title: "Changed", CWD: "/w/app", Branch: "main"}},
		{"a repository on another host", "", []string{bare, `session.context_changed "cwd":"/w","repository":"acme/x","hostType":"github","repositoryHost":"acme.ghe.com"`, cpUser("hi")}, Head{Kind: memoir.KindMain, Title: "hi", CWD: "/w", Remote: "https://acme.ghe.com/acme/x"}},
		{"a repository that is none", "", []string{bare, `session.resume "context":{"cwd":"/w","repository":"org/project/repo","hostType":"ado"}`, cpUser("hi")}, Head{Kind: memoir.KindMain, Title: "hi", CWD: "/w"}},
		{"a file beside that is broken", "cwd: [", []string{bare, cpUser("hi")}, Head{Kind: memoir.KindMain, Title: "hi"}},
		{"a run without a person", "", []string{cpStart, `system.message "content":"You are the CLI. You are running in non-interactive mode and have no way"`, cpUser("hi")}, Head{Kind: memoir.KindAutomation, Title: "hi", CWD: "/w/app", Branch: "main"}},
		{"a run that goes on by itself", "", []string{strings.Replace(cpStart, `"version"`, `"detachedFromSpawningParentSessionId":"p1","version"`, 1), cpUser("hi")}, Head{Kind: memoir.KindSubagent, ParentID: "p1", Title: "hi", CWD: "/w/app", Branch: "main"}},
		{"our own run", "", []string{cpStart, `user.message "content":"memoir:own-run"`}, Head{Kind: memoir.KindOwnRun, Title: "memoir:own-run", CWD: "/w/app", Branch: "main"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "session-state/"+copilotID+"/events.jsonl", cp(tt.events...)...)
			if tt.workspace != "" {
				writeAt(t, filepath.Join(filepath.Dir(path), "workspace.yaml"), tt.workspace)
			}
			h := probe(t, path)
			got := Head{Kind: h.Kind, ParentID: h.ParentID, Title: h.Title, CWD: h.CWD, Branch: h.Branch, Remote: h.Remote}
			if got != tt.want || h.Source != memoir.SourceCopilot || h.ID != copilotID {
				t.Errorf("head %+v, want %+v", h, tt.want)
			}
		})
	}
}

func TestCopilotSessionsAreToldApartThoughTheirFilesHaveOneName(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"aaaaaaaa-0000-4000-8000-00000000000a", "aaaaaaaa-0000-4000-8000-00000000000b"} {
		if h := probe(t, write(t, id+"/events.jsonl", cp(cpUser("hi"))...)); h.ID != id {
			t.Errorf("id %q, want %q", h.ID, id)
		}
	}
	h := probe(t, write(t, copilotID+".jsonl", cp(cpStart, cpUser("hi"))...))
	if h.ID != copilotID || !h.CreatedAt.Equal(time.Date(2026, 6, 3, 8, 59, 59, 0, time.UTC)) {
		t.Errorf("an early version's file: %+v", h)
	}
}
