package rollout

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
)

const claudeID = "aaaaaaaa-0000-4000-8000-000000000001"

// cc makes lines of a Claude Code session in which each entry follows the one
// before. A line is "type json": the members besides the usual ones. Members given
// replace the usual ones.
func cc(lines ...string) []string {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	var out []string
	parent := "null"
	for i, line := range lines {
		kind, members, _ := strings.Cut(line, " ")
		uuid := fmt.Sprintf("u%d", i)
		head := fmt.Sprintf(`"type":%q,"timestamp":%q,"sessionId":%q`, kind, at.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano), claudeID)
		if kind == "user" || kind == "assistant" || kind == "system" || kind == "attachment" {
			if !strings.Contains(members, `"uuid"`) {
				head += fmt.Sprintf(`,"uuid":%q`, uuid)
			}
			if !strings.Contains(members, `"parentUuid"`) {
				head += `,"parentUuid":` + parent
			}
			if !strings.Contains(members, `"cwd"`) {
				head += `,"cwd":"/w/app","gitBranch":"main"`
			}
			if !strings.Contains(members, `"isSidechain"`) {
				head += `,"isSidechain":false`
			}
			parent = q(uuid)
		}
		if members = strings.TrimSpace(members); members != "" {
			head += "," + members
		}
		out = append(out, "{"+head+"}")
	}
	return out
}

func ccSay(s string, extra ...string) string {
	return `user "message":{"role":"user","content":` + q(s) + `}` + strings.Join(extra, "")
}
func ccText(id, s string) string {
	return `assistant "message":{"id":"` + id + `","role":"assistant","model":"m","content":[{"type":"text","text":` + q(s) + `}]}`
}
func ccUse(id, use, tool, input string) string {
	return `assistant "message":{"id":"` + id + `","role":"assistant","model":"m","content":[{"type":"tool_use","id":"` + use + `","name":"` + tool + `","input":` + input + `}]}`
}
func ccResult(use, s string, extra string) string {
	return `user "message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + use + `","content":` + q(s) + extra + `}]},"toolUseResult":{"stdout":` + q(s) + `}`
}

// ccRefusal is the result of a call that a person refused.
func ccRefusal(use, s string) string {
	return `user "message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + use + `","is_error":true,"content":` + q(s) + `}]},"toolUseResult":` + q("Error: "+s)
}

// scene is a session of one agent's records, and what is read of it.
type scene struct {
	name    string
	records []string
	want    []string
}

// undone finds what a scene's session took back.
var undone = regexp.MustCompile(`(?i)"(content|text|message)":"old"`)

// play reads each scene from a file that session makes of its records.
func play(t *testing.T, file string, session func(...string) []string, scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			items, stats := read(t, write(t, file, session(s.records...)...))
			expect(t, items, s.want...)
			if old := undone.MatchString(strings.Join(s.records, "")); stats.Undone > 0 != old || len(stats.Unknown) != 0 {
				t.Errorf("undone %d, want some: %v; unknown %v", stats.Undone, old, stats.Unknown)
			}
		})
	}
}

func TestClaudeGivesItems(t *testing.T) {
	t.Parallel()
	play(t, claudeID+".jsonl", cc, []scene{
		{"a turn with a command", []string{ccSay("test it"), ccText("m1", "I will."), ccUse("m1", "t1", "Bash", `{"command":"go test","description":"d"}`),
			`progress "data":{"type":"bash_progress","output":"ok"}`, ccResult("t1", "ok", ""), ccText("m2", "It passes.")},
			[]string{"typed: test it", "agent: I will.", "Bash(go test) = ok", "agent: It passes."}},
		{"blocks of one message on several lines", []string{ccSay("a"), ccText("m1", "one"), ccText("m1", "two"), ccText("m2", "three")},
			[]string{"typed: a", "agent: one\n\ntwo", "agent: three"}},
		{"growing snapshots", []string{ccSay("a"), ccText("m1", "It"), ccText("m1", "It works"), ccText("m1", "It works")},
			[]string{"typed: a", "agent: It works"}},
		{"a message that goes on after a result", []string{ccSay("a"), ccText("m1", "first"), ccUse("m1", "t1", "Read", `{"file_path":"/a"}`), ccResult("t1", "x", ""), ccText("m1", "first"), ccUse("m1", "t2", "Read", `{"file_path":"/b"}`), ccResult("t2", "y", "")},
			[]string{"typed: a", "agent: first", `Read({"file_path":"/a"}) = x`, `Read({"file_path":"/b"}) = y`}},
		{"an exit status", []string{ccUse("m1", "t1", "Bash", `{"command":"make"}`), ccResult("t1", "Exit code 2\nno rule", `,"is_error":true`)},
			[]string{"Bash(make) !2 no rule"}},
		{"Exit code of a call that went well is its output", []string{ccUse("m1", "t1", "Bash", `{"command":"cat f"}`), ccResult("t1", "Exit code 2\nx", "")},
			[]string{"Bash(cat f) = Exit code 2\nx"}},
		{"a tool error", []string{ccUse("m1", "t1", "Read", `{}`), ccResult("t1", "<tool_use_error>File does not exist.</tool_use_error>", `,"is_error":true`)},
			[]string{"Read({}) ! File does not exist."}},
		{"a large output", []string{ccUse("m1", "t1", "Bash", `{"command":"x"}`), ccResult("t1", "<persisted-output>\nOutput too large (100KB).\n\nPreview:\nabc\n</persisted-output>", "")},
			[]string{"Bash(x) = Output too large (100KB).\n\nPreview:\nabc"}},
		{"a reminder in a result", []string{ccUse("m1", "t1", "Read", `{}`), ccResult("t1", "data\n<system-reminder>\nbe good\n</system-reminder>\n", "")},
			[]string{"Read({}) = data"}},
		{"an interrupt", []string{ccSay("a"), `user "message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}`, ccSay("b")},
			[]string{"typed: a", "typed: b"}},
		{"an editor's block before the words", []string{`user "message":{"role":"user","content":[{"type":"text","text":"<ide_opened_file>a.go</ide_opened_file>"},{"type":"text","text":"fix it"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]}`},
			[]string{"typed: fix it"}},
		{"a compaction", []string{ccSay("a"), `system "subtype":"compact_boundary","content":"Conversation compacted"`,
			ccSay("This session is being continued from a previous conversation. The user asked a.", `,"isCompactSummary":true,"isVisibleInTranscriptOnly":true`), ccSay("b")},
			[]string{"typed: a", "compaction_summary: This session is being continued from a previous conversation. The user asked a.", "typed: b"}},
		{"a command of the person", []string{ccSay("<bash-input>ls</bash-input>"), ccSay("<bash-stdout>a.go</bash-stdout><bash-stderr></bash-stderr>"), ccSay("why")},
			[]string{"user_shell(ls) = a.go", "typed: why"}},
		{"an error message of the client", []string{ccSay("a"), `assistant "isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error: 500"}]}`}, []string{"typed: a"}},
		{"an inline sub-agent", []string{ccSay("a"), ccSay("task", `,"isSidechain":true`), ccText("m1", "done")}, []string{"typed: a", "agent: done"}},
		{"a line written twice", []string{ccSay("a", `,"uuid":"same"`), ccSay("a", `,"uuid":"same"`), ccSay("a", `,"uuid":"other"`)}, []string{"typed: a", "typed: a"}},
		{"a final answer", []string{ccSay("a"), `assistant "message":{"id":"m1","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]}`}, []string{"typed: a", "agent!: done"}},
		{"a call that nobody answered", []string{ccSay("a"), ccUse("m1", "t1", "Bash", `{"command":"sleep"}`), ccSay("b")}, []string{"typed: a", "Bash(sleep) =", "typed: b"}},
		{"thinking", []string{ccSay("a"), `assistant "message":{"id":"m1","content":[{"type":"thinking","thinking":"hm","signature":"x"}]}`}, []string{"typed: a"}},
		{"a message without an id", []string{ccText("", "one"), ccText("", "two")}, []string{"agent: one", "agent: two"}},
		{"a result that was cleared", []string{ccUse("m1", "t1", "Read", `{}`), ccResult("t1", "[Old tool result content cleared]", "")}, []string{"Read({}) ="}},
		{"an image alone", []string{`user "message":{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AAAA"}}]}`, ccSay("b")}, []string{"typed: b"}},
		{"an interrupt and words in one text", []string{ccSay("[Request interrupted by user for tool use]\nno, the other")}, []string{"typed: no, the other"}},
		{"an interrupt and words in one line", []string{`user "message":{"content":[{"type":"text","text":"[Request interrupted by user]"},{"type":"text","text":"no, the other"}]}`}, []string{"typed: no, the other"}},
		{"words wrapped for the model", []string{ccSay("The user sent a new message while you were working:\nuse tabs\n\nIMPORTANT: After completing your current task, you MUST address it.")}, []string{"typed: use tabs"}},
		{"a summary with a reminder", []string{ccSay("This session is being continued from a previous conversation.\n<system-reminder>x</system-reminder>\nSum", `,"isCompactSummary":true`)},
			[]string{"compaction_summary: This session is being continued from a previous conversation.\n\nSum"}},
		{"a compaction in the middle of a chain", []string{ccSay("a"), ccText("m1", "A"), `system "subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"u1","content":"c","compactMetadata":{"preservedSegment":{"headUuid":"u1","anchorUuid":"u3","tailUuid":"u1"}}`,
			ccSay("Sum", `,"isCompactSummary":true`), `system "subtype":"microcompact_boundary","content":"c"`, ccSay("b")}, []string{"typed: a", "agent: A", "compaction_summary: Sum", "typed: b"}},
		{"a person's command of a newer log", []string{`system "subtype":"local_command","content":"<bash-input>ls</bash-input>"`, `system "subtype":"local_command","content":"<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"`}, []string{"user_shell(ls) = x"}},
		{"a slash command of the log", []string{`system "subtype":"local_command","content":"<command-name>/mcp</command-name>\n<command-args>add x</command-args>"`, `system "subtype":"local_command","content":"<local-command-stdout>ok</local-command-stdout>"`}, []string{"slash_command: /mcp add x"}},
		{"a person's command whose output never came", []string{ccSay("<bash-input>ls</bash-input>"), ccSay("b")}, []string{"user_shell(ls) =", "typed: b"}},
		{"our own block", []string{ccSay("<memoir-context>old</memoir-context>\ngo on")}, []string{"typed: go on"}},
		{"a sub-agent's file", []string{ccSay("task", `,"isSidechain":true`), ccText("m1", "done") + `,"isSidechain":true`}, []string{"subagent_task: task", "agent: done"}},
	})
}

func TestACallWithoutAResultOrThatWasInterruptedIsLost(t *testing.T) {
	t.Parallel()
	use := func(id string) string { return ccUse("m"+id, id, "Bash", `{"command":"make test"}`) }
	items, _ := read(t, write(t, claudeID+".jsonl", cc(ccSay("a"), use("t1"), ccResult("t1", "", ""), use("t2"),
		strings.Replace(ccResult("t2", "collecting", ""), `{"stdout"`, `{"interrupted":true,"stdout"`, 1), use("t3"), ccSay("b"), use("t4"))...))
	var lost []bool
	for _, it := range items {
		if it.Kind == memoir.ItemTool {
			lost = append(lost, it.Lost)
		}
	}
	if !slices.Equal(lost, []bool{false, true, true, true}) {
		t.Errorf("lost: %v", lost)
	}
}

func TestClaudeSplitsWhatTheUserTypedFromWhatWasAdded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		origin   memoir.Origin
		want     string
	}{
		{"plain", " fix it\n", memoir.OriginTyped, "fix it"},
		{"a command with arguments", "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>", memoir.OriginSlashCommand, "/review the parser"},
		{"a command as typed", " /workflows:review", memoir.OriginSlashCommand, "/workflows:review"},
		{"a path is no command", "/etc/hosts is wrong", memoir.OriginTyped, "/etc/hosts is wrong"},
		{"what a command printed", "<local-command-stdout>Bye!</local-command-stdout>", memoir.OriginInjected, ""},
		{"a caveat", "Caveat: The messages below were generated by the user while running local commands. DO NOT respond", memoir.OriginInjected, ""},
		{"a leading reminder", "<system-reminder>x</system-reminder>\nfix it", memoir.OriginTyped, "fix it"},
		{"a selection", "<ide_selection>lines 1 to 3</ide_selection>fix it", memoir.OriginTyped, "fix it"},
		{"a stop hook", "Stop hook feedback:\n- tests fail", memoir.OriginInjected, ""},
		{"a hook that stopped", "Operation stopped by hook: no", memoir.OriginInjected, ""},
		{"a person on hooks", "Stop hooking everything", memoir.OriginTyped, "Stop hooking everything"},
		{"a teammate", `<teammate-message teammate_id="x">hi</teammate-message>`, memoir.OriginInjected, ""},
		{"a plan", "Implement the following plan:\n\n# Plan", memoir.OriginPlanHandover, "Implement the following plan:\n\n# Plan"},
		{"a continued session", "This session is being continued from a previous conversation that ran out", memoir.OriginCompactionSummary, "This session is being continued from a previous conversation that ran out"},
		{"a memory note", "<user-memory-input>use tabs</user-memory-input>", memoir.OriginTyped, "use tabs"},
		{"an element of the user's own", "<div>centre this</div>", memoir.OriginTyped, "<div>centre this</div>"},
	}
	for _, tt := range tests {
		if origin, own := splitClaudeUser(tt.in); origin != tt.origin || own != tt.want {
			t.Errorf("%s: %s %q, want %s %q", tt.name, origin, own, tt.origin, tt.want)
		}
	}
}

func TestClaudeGivesQueuedPromptsOnce(t *testing.T) {
	t.Parallel()
	queue := func(op, s string) string {
		line := `queue-operation "operation":"` + op + `"`
		if s != "" {
			line += `,"content":` + q(s)
		}
		return line
	}
	attached := func(s, mode string) string {
		return `attachment "attachment":{"type":"queued_command","prompt":` + q(s) + `,"commandMode":"` + mode + `"}`
	}
	play(t, claudeID+".jsonl", cc, []scene{
		{"that a line repeats", []string{ccSay("a"), queue("enqueue", "b"), ccText("m1", "A"), queue("dequeue", ""), ccSay("b")},
			[]string{"typed: a", "agent: A", "typed: b"}},
		{"that an attachment repeats", []string{ccSay("a"), queue("enqueue", "b"), queue("remove", ""), attached("b", "prompt")},
			[]string{"typed: a", "queued: b"}},
		{"that nothing repeats", []string{ccSay("a"), queue("enqueue", "b"), ccText("m1", "A"), queue("remove", ""), ccText("m2", "B")},
			[]string{"typed: a", "agent: A", "queued: b", "agent: B"}},
		{"that were still waiting", []string{ccSay("a"), queue("enqueue", "b"), ccText("m1", "A")},
			[]string{"typed: a", "queued: b", "agent: A"}},
		{"that were taken back", []string{ccSay("a"), queue("enqueue", "draft"), queue("popAll", "")}, []string{"typed: a"}},
		{"that the next line names", []string{ccSay("a"), queue("enqueue", "b"), queue("enqueue", "c"), queue("remove", "c"), attached("c", "prompt"), ccText("m1", "A"), queue("dequeue", ""), ccSay("b")},
			[]string{"typed: a", "queued: c", "agent: A", "typed: b"}},
		{"that are commands for the shell", []string{ccSay("a"), queue("enqueue", "ls"), queue("remove", ""), attached("ls", "bash"), ccSay("<bash-input>ls</bash-input>"), ccSay("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>")},
			[]string{"typed: a", "user_shell(ls) = x"}},
		{"of programs", []string{ccSay("a"), queue("enqueue", "hi"), queue("dequeue", ""), ccSay("hi", `,"promptSource":"webhook"`), queue("enqueue", "ho") + `,"turnOrigin":"nightly"`, queue("remove", ""),
			queue("enqueue", "he"), queue("remove", ""), strings.Replace(attached("he", "prompt"), `"prompt":`, `"turnOrigin":"peer","prompt":`, 1)}, []string{"typed: a"}},
		{"of another session", []string{ccSay("a"), `attachment "attachment":{"type":"queued_command","prompt":"b","origin":{"kind":"peer"}}`}, []string{"typed: a"}},
		{"of a person, in the newest form", []string{ccSay("a"), queue("enqueue", "b"), queue("remove", "b"), `attachment "attachment":{"type":"queued_command","prompt":[{"type":"text","text":"b"}],"commandMode":"prompt","origin":{"kind":"human"}}`}, []string{"typed: a", "queued: b"}},
		{"said twice", []string{ccSay("a"), queue("enqueue", "yes"), queue("enqueue", "yes"), queue("remove", ""), attached("yes", "prompt"), queue("remove", ""), attached("yes", "prompt")}, []string{"typed: a", "queued: yes", "queued: yes"}},
		{"sent as one", []string{ccSay("a"), queue("enqueue", "b"), queue("enqueue", "c"), queue("dequeue", ""), queue("dequeue", ""), ccSay("b\nc")},
			[]string{"typed: a", "typed: b\nc"}},
		{"that are commands of the interface", []string{ccSay("a"), queue("enqueue", "/model"), queue("remove", "")}, []string{"typed: a"}},
		{"that are notifications", []string{ccSay("a"), queue("enqueue", "<task-notification>x</task-notification>"), attached("<task-notification>x</task-notification>", "task-notification")}, []string{"typed: a"}},
		{"while a tool runs, which still gets its result", []string{ccSay("a"), ccUse("m1", "t1", "Bash", `{"command":"make"}`), queue("enqueue", "b"), queue("remove", ""), ccResult("t1", "ok", "")},
			[]string{"typed: a", "queued: b", "Bash(make) = ok"}},
	})
}

func TestClaudeDropsAbandonedBranches(t *testing.T) {
	t.Parallel()
	under := func(line, parent string) string { return line + `,"parentUuid":` + parent }
	play(t, claudeID+".jsonl", cc, []scene{
		{"an edited prompt", []string{ccSay("a"), ccText("m1", "A"), ccSay("old"), ccText("m2", "OLD"), under(ccSay("new"), `"u1"`), ccText("m3", "NEW")},
			[]string{"typed: a", "agent: A", "typed: new", "agent: NEW"}},
		{"with lines of the agent's log between", []string{ccSay("a"), ccText("m1", "A"), `system "subtype":"turn_duration"`, ccSay("old"), ccText("m2", "OLD"), under(ccSay("new"), `"u1"`)},
			[]string{"typed: a", "agent: A", "typed: new"}},
		{"parallel calls are no branches", []string{ccSay("a"), ccUse("m1", "t1", "Read", `{}`), ccUse("m1", "t2", "Read", `{}`), under(ccResult("t1", "x", ""), `"u1"`), under(ccResult("t2", "y", ""), `"u2"`), ccSay("b")},
			[]string{"typed: a", "Read({}) = x", "Read({}) = y", "typed: b"}},
		{"a missing parent", []string{ccSay("a"), ccText("m1", "A"), under(ccSay("b"), `"lost"`), ccText("m2", "B")},
			[]string{"typed: a", "agent: A", "typed: b", "agent: B"}},
		{"several roots", []string{ccSay("a"), ccText("m1", "A"), under(ccSay("b"), `null`), ccText("m2", "B")},
			[]string{"typed: a", "agent: A", "typed: b", "agent: B"}},
		{"a last line that hangs on an old one", []string{ccSay("a"), ccText("m1", "A"), ccSay("b"), ccText("m2", "B"), under(ccText("m3", "late"), `"u1"`)},
			[]string{"typed: a", "agent: A", "typed: b", "agent: B", "agent: late"}},
		{"a loop of parents", []string{under(ccSay("a"), `"u1"`), under(ccText("m1", "A"), `"u0"`)}, []string{"typed: a", "agent: A"}},
	})
}

// headScene is a file of one agent's records, and what its head says.
type headScene struct {
	name, file string
	records    []string
	want       Head
}

func checkHeads(t *testing.T, source memoir.Source, session func(...string) []string, scenes []headScene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			got := probe(t, write(t, s.file, session(s.records...)...))
			short := Head{ID: got.ID, ParentID: got.ParentID, Kind: got.Kind, Title: got.Title, CWD: got.CWD, Branch: got.Branch}
			if short != s.want || got.Source != source || got.CreatedAt.IsZero() {
				t.Errorf("head\n%+v, want\n%+v", got, s.want)
			}
		})
	}
}

func TestClaudeHead(t *testing.T) {
	t.Parallel()
	const agent = `,"isSidechain":true,"agentId":"ab12cd34"`
	checkHeads(t, memoir.SourceClaude, cc, []headScene{
		{"a session", claudeID + ".jsonl", []string{ccSay("a")}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"a resumed session's file", "copy.jsonl", []string{ccSay("a"), ccText("m1", "x"), `user "sessionId":"new","message":{"content":"b"}`}, Head{ID: "new", Kind: memoir.KindMain, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"a sub-agent", "agent-ab12cd34.jsonl", []string{ccSay("task", agent)}, Head{ID: "agent-ab12cd34", ParentID: claudeID, Kind: memoir.KindSubagent, Title: "task", CWD: "/w/app", Branch: "main"}},
		{"a sub-agent by its place", claudeID + "/subagents/agent-x1.jsonl", []string{ccSay("task")}, Head{ID: "agent-x1", ParentID: claudeID, Kind: memoir.KindSubagent, Title: "task", CWD: "/w/app", Branch: "main"}},
		{"headless", "x.jsonl", []string{ccSay("a", `,"entrypoint":"sdk-py"`)}, Head{ID: claudeID, Kind: memoir.KindAutomation, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"no branch", "x.jsonl", []string{`user "cwd":"/w","gitBranch":"HEAD","message":{"content":"a"}`}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "a", CWD: "/w"}},
		{"a title by hand", "x.jsonl", []string{`summary "summary":"no","leafUuid":"u1"`, ccSay("a"), `ai-title "aiTitle":"made"`, `custom-title "customTitle":"mine"`}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "mine", CWD: "/w/app", Branch: "main"}},
		{"a title by the agent", "x.jsonl", []string{ccSay("a"), `ai-title "aiTitle":"made"`}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "made", CWD: "/w/app", Branch: "main"}},
		{"a summary of this session", "x.jsonl", []string{`summary "summary":"Sum","leafUuid":"u1"`, ccSay("a")}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "Sum", CWD: "/w/app", Branch: "main"}},
		{"a summary of another", "x.jsonl", []string{`summary "summary":"Sum","leafUuid":"elsewhere"`, ccSay("a")}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"a title of its own after that of another", "x.jsonl", []string{`summary "summary":"Theirs","leafUuid":"elsewhere"`, `summary "summary":"Ours","leafUuid":"u2"`, ccSay("a")}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "Ours", CWD: "/w/app", Branch: "main"}},
		{"in a browser's action", "x.jsonl", []string{ccSay("a", `,"entrypoint":"claude-code-github-action"`)}, Head{ID: claudeID, Kind: memoir.KindAutomation, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"by a program that is not known", "x.jsonl", []string{ccSay("a", `,"entrypoint":"batch-runner"`)}, Head{ID: claudeID, Kind: memoir.KindAutomation, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"by a schedule with a field", "x.jsonl", []string{ccSay("a", `,"entrypoint":"cli","scheduledTaskId":"t1"`)}, Head{ID: claudeID, Kind: memoir.KindAutomation, CWD: "/w/app", Branch: "main"}},
		{"by a turn of a program", "x.jsonl", []string{ccSay("a", `,"entrypoint":"cli","turnOrigin":"nightly"`), ccText("m1", "x") + `,"entrypoint":"cli"`}, Head{ID: claudeID, Kind: memoir.KindAutomation, CWD: "/w/app", Branch: "main"}},
		{"by a person after a notice", "x.jsonl", []string{ccSay("a", `,"turnOrigin":"task_notification"`), ccSay("b", `,"turnOrigin":"human"`)}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "b", CWD: "/w/app", Branch: "main"}},
		{"a kind of session that is not known", "x.jsonl", []string{ccSay("a", `,"entrypoint":"cli","sessionKind":["relay"]`)}, Head{ID: claudeID, Kind: memoir.KindAutomation, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"by a schedule", "x.jsonl", []string{ccSay(`<scheduled-task name="tidy" file="SKILL.md">`, `,"entrypoint":"claude-desktop"`)}, Head{ID: claudeID, Kind: memoir.KindAutomation, Title: `<scheduled-task name="tidy" file="SKILL.md">`, CWD: "/w/app", Branch: "main"}},
		{"in an editor", "x.jsonl", []string{ccSay("a", `,"entrypoint":"claude-vscode","promptSource":"sdk"`)}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"by a person and then by a script", "x.jsonl", []string{ccSay("a", `,"entrypoint":"cli"`), ccSay("b", `,"entrypoint":"sdk-cli"`)}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"a sub-agent of a workflow", claudeID + "/subagents/workflows/w1/agent-x1.jsonl", []string{ccSay("task")}, Head{ID: "agent-x1", ParentID: claudeID, Kind: memoir.KindSubagent, Title: "task", CWD: "/w/app", Branch: "main"}},
		{"a worktree that the agent made", "x.jsonl", []string{ccSay("a", `,"cwd":"/trees/fix/sub"`), `worktree-state "worktreeSession":{"originalCwd":"/w/app","worktreePath":"/trees/fix"}`}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "a", CWD: "/w/app"}},
		{"a worktree that it was not in", "x.jsonl", []string{ccSay("a"), `worktree-state "worktreeSession":{"originalCwd":"/elsewhere","worktreePath":"/trees/fix"}`, `worktree-state "worktreeSession":null`}, Head{ID: claudeID, Kind: memoir.KindMain, Title: "a", CWD: "/w/app", Branch: "main"}},
		{"a fork", "x.jsonl", []string{ccSay("theirs", `,"forkedFrom":{"sessionId":"old","messageUuid":"u0"}`), ccSay("ours")}, Head{ID: claudeID, ParentID: "old", Kind: memoir.KindMain, Title: "theirs", CWD: "/w/app", Branch: "main"}},
		{"a fork whose answers say so", "x.jsonl", []string{ccSay("theirs"), ccText("m1", "A") + `,"requestSessionId":"old"`, ccSay("ours")}, Head{ID: claudeID, ParentID: "old", Kind: memoir.KindMain, Title: "theirs", CWD: "/w/app", Branch: "main"}},
		{"our own run", "x.jsonl", []string{ccSay("memoir:own-run\nextract", `,"entrypoint":"sdk-cli"`)}, Head{ID: claudeID, Kind: memoir.KindOwnRun, Title: "memoir:own-run", CWD: "/w/app", Branch: "main"}},
	})
}

func TestClaudeFollowsDirectoryAndBranch(t *testing.T) {
	t.Parallel()
	items, _ := read(t, write(t, "x.jsonl", cc(ccSay("a"), ccSay("b", `,"cwd":"/w/b","gitBranch":"fix"`))...))
	if items[0].CWD != "/w/app" || items[1].CWD != "/w/b" || items[1].Branch != "fix" {
		t.Errorf("%q %q %q", items[0].CWD, items[1].CWD, items[1].Branch)
	}
	if want := time.Date(2026, 3, 1, 10, 0, 1, 0, time.UTC); !items[1].At.Equal(want) {
		t.Errorf("at %v", items[1].At)
	}
}

func TestClaudeCountsMessagesOfUnknownTypes(t *testing.T) {
	t.Parallel()
	lines := []string{ccSay("a"), `progress "content":"no words"`, `api-request "messages":[{"role":"user"}]`}
	for range 2 {
		lines = append(lines, `novelty "message":{"role":"user","content":"no words"}`)
	}
	items, stats := read(t, write(t, claudeID+".jsonl", cc(lines...)...))
	expect(t, items, "typed: a")
	if len(stats.Unknown) != 1 || stats.Unknown["novelty"] != 2 {
		t.Errorf("unknown %v", stats.Unknown)
	}
}
