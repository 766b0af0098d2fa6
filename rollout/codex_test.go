package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
)

const thread = "01990000-0000-7000-8000-00000000000a"

// cx makes enveloped lines: each argument is "type payload" and a second later
// than the one before.
func cx(lines ...string) []string {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	var out []string
	for i, line := range lines {
		kind, payload, _ := strings.Cut(line, " ")
		out = append(out, fmt.Sprintf(`{"timestamp":%q,"type":%q,"payload":%s}`, at.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano), kind, payload))
	}
	return out
}

func cxMeta(extra string) string {
	return `session_meta {"id":"` + thread + `","timestamp":"2026-03-01T10:00:00Z","cwd":"/w/app","source":"cli","git":{"branch":"main","repository_url":"https://u:pw@host.example/a/b.git"}` + extra + `}`
}

func cxUser(s string) string { return `event_msg {"type":"user_message","message":` + q(s) + `}` }
func cxInput(s string) string {
	return `response_item {"type":"message","role":"user","content":[{"type":"input_text","text":` + q(s) + `}]}`
}
func cxAgent(s string) string {
	return `response_item {"type":"message","role":"assistant","content":[{"type":"output_text","text":` + q(s) + `}]}`
}
func cxTurn(id string) string {
	return `event_msg {"type":"task_started","turn_id":"` + id + `"}`
}
func cxCall(id, name, arguments string) string {
	return `response_item {"type":"function_call","name":"` + name + `","arguments":` + q(arguments) + `,"call_id":"` + id + `"}`
}
func cxOutput(id, raw string) string {
	return `response_item {"type":"function_call_output","call_id":"` + id + `","output":` + raw + `}`
}

// cxSession is cx of lines that begin with a session_meta, which is put there if it is not.
func cxSession(lines ...string) []string {
	if !strings.HasPrefix(lines[0], "session_meta ") {
		lines = append([]string{cxMeta("")}, lines...)
	}
	return cx(lines...)
}

func TestCodexGivesEachUtteranceOnce(t *testing.T) {
	t.Parallel()
	const userItem = `event_msg {"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"go"}]}}`
	play(t, "x.jsonl", cxSession, []scene{
		{"an event and its response item", []string{cxInput("do it"), cxUser("do it"), cxAgent("done"), `event_msg {"type":"agent_message","message":"done"}`},
			[]string{"typed: do it", "agent: done"}},
		{"the same words said twice", []string{cxInput("go on"), cxUser("go on"), cxAgent("a"), cxInput("go on"), cxUser("go on")},
			[]string{"typed: go on", "agent: a", "typed: go on"}},
		{"response items alone", []string{cxInput("do it"), cxAgent("done")},
			[]string{"typed: do it", "agent: done"}},
		{"events alone", []string{cxUser("do it"), `event_msg {"type":"agent_message","message":"done"}`},
			[]string{"typed: do it", "agent: done"}},
		{"items and both kinds of event", []string{cxTurn("t1"), cxInput("do it"), cxUser("do it"),
			`event_msg {"type":"item_completed","turn_id":"t1","item":{"type":"UserMessage","content":[{"type":"text","text":"do it"}]}}`,
			`event_msg {"type":"item_completed","turn_id":"t1","item":{"type":"AgentMessage","content":[{"type":"Text","text":"done"}],"phase":"final_answer"}}`},
			[]string{"typed: do it", "agent!: done"}},
		{"both kinds of event for the same words twice, without turns", []string{cxUser("go"), userItem, cxAgent("a"), cxUser("go"), userItem},
			[]string{"typed: go", "agent: a", "typed: go"}},
		{"a prompt that its author put in elements", []string{cxInput("<instructions>use tabs</instructions>"), cxUser("<instructions>use tabs</instructions>"), cxAgent("a")},
			[]string{"typed: <instructions>use tabs</instructions>", "agent: a"}},
		{"an injected item beside events", []string{cxInput("<weird_context>x</weird_context>"), cxInput("do it"), cxUser("do it")},
			[]string{"typed: do it"}},
		{"a prompt that only an item marked as the user's has", []string{cxUser("first"), cxTurn("t2"),
			`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"second"}],"internal_chat_message_metadata_passthrough":{"turn_id":"t2","content_item_kinds":["user.text"]}}`},
			[]string{"typed: first", "typed: second"}},
		{"a prompt of an image alone", []string{`event_msg {"type":"user_message","message":"","images":["data:image/png;base64,AAAA"]}`}, nil},
		{"an item whose blocks are all marked as added", []string{`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"notes"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["additional_content.x"]}}`, cxInput("do it")},
			[]string{"typed: do it"}},
		{"developer and system text", []string{`response_item {"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}`, cxUser("do it")},
			[]string{"typed: do it"}},
		{"a compaction that repeats the user", []string{cxUser("do it"), `compacted {"message":"so far","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}]}`},
			[]string{"typed: do it", "compaction_summary: so far"}},
		{"closing answers", []string{cxTurn("t1"), cxUser("a"), cxAgent("looking"), cxAgent("found"), `event_msg {"type":"task_complete","turn_id":"t1","last_agent_message":"found"}`,
			`response_item {"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"more"}]}`,
			`response_item {"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"end"}]}`},
			[]string{"typed: a", "agent: looking", "agent!: found", "agent: more", "agent!: end"}},
		{"a compaction without a text", []string{cxUser("do it"), `compacted {"message":"","replacement_history":[]}`}, []string{"typed: do it"}},
		{"a command of the person", []string{cxUser("a"), cxInput("<user_shell_command>\n<command>\nmake\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nno rule\n</result>\n</user_shell_command>")},
			[]string{"typed: a", "user_shell(make) !2 no rule"}},
	})
}

func TestCodexSplitsWhatTheUserTypedFromWhatWasAdded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		origin   memoir.Origin
		want     string
	}{
		{"plain", " fix it\n", memoir.OriginTyped, "fix it"},
		{"environment", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>", memoir.OriginTyped, ""},
		{"an envelope, then words", "<environment_context>x</environment_context>\n\nfix it", memoir.OriginTyped, "fix it"},
		{"several envelopes", "<skill>a</skill><recommended_plugins>b</recommended_plugins>\nfix it", memoir.OriginTyped, "fix it"},
		{"AGENTS.md", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>", memoir.OriginTyped, ""},
		{"AGENTS.md, an envelope and words", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x</INSTRUCTIONS><environment_context>y</environment_context>fix it", memoir.OriginTyped, "fix it"},
		{"an editor's context", "# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nfix it\n", memoir.OriginTyped, "fix it"},
		{"files mentioned", "# Files mentioned by the user:\n\n## a.go: /w/a.go\n\n## My request for Codex:\nfix it", memoir.OriginTyped, "fix it"},
		{"an editor's context alone", "# Context from my IDE setup:\n\n## Open tabs:\n- a.go", memoir.OriginTyped, ""},
		{"a heading of the user's own", "# Contexts\nfix it", memoir.OriginTyped, "# Contexts\nfix it"},
		{"an element of the user's own", "<div>centre this</div>", memoir.OriginTyped, "<div>centre this</div>"},
		{"a plan", "PLEASE IMPLEMENT THIS PLAN:\n# Plan", memoir.OriginPlanHandover, "PLEASE IMPLEMENT THIS PLAN:\n# Plan"},
		{"an expanded slash prompt", "## User Input\n\n```text\nadd a cache\n```\n\nYou **MUST** consider the user input", memoir.OriginSlashCommand, "add a cache"},
		{"an expanded slash prompt without arguments", "## User Input\n\n```text\n\n```\n\nYou **MUST**", memoir.OriginSlashCommand, ""},
	}
	for _, tt := range tests {
		origin, own := splitCodex(tt.in, false)
		if own != tt.want || own != "" && origin != tt.origin {
			t.Errorf("%s: %s %q, want %s %q", tt.name, origin, own, tt.origin, tt.want)
		}
	}
}

func TestCodexUndoesRolledBackTurns(t *testing.T) {
	t.Parallel()
	back := func(n int) string { return fmt.Sprintf(`event_msg {"type":"thread_rolled_back","num_turns":%d}`, n) }
	play(t, "x.jsonl", cxSession, []scene{
		{"one turn", []string{cxTurn("1"), cxInput("a"), cxUser("a"), cxAgent("A"), cxTurn("2"), cxInput("old"), cxUser("old"), cxAgent("B"), back(1), cxTurn("3"), cxInput("c"), cxUser("c")},
			[]string{"typed: a", "agent: A", "typed: c"}},
		{"two turns, with their calls", []string{cxTurn("1"), cxUser("old"), cxTurn("2"), cxUser("b"), cxCall("1", "shell", `{"command":["ls"]}`), cxOutput("1", `"x"`), back(2), cxTurn("3"), cxUser("c")},
			[]string{"typed: c"}},
		{"without task_started", []string{cxInput("a"), cxUser("a"), cxAgent("A"), cxInput("old"), cxUser("old"), cxAgent("B"), back(1), cxInput("c"), cxUser("c"), cxAgent("C")},
			[]string{"typed: a", "agent: A", "typed: c", "agent: C"}},
		{"without task_started and without an answer", []string{cxInput("a"), cxUser("a"), cxInput("b"), cxUser("b"), cxInput("old"), cxUser("old"), back(1), cxInput("d"), cxUser("d")},
			[]string{"typed: a", "typed: b", "typed: d"}},
		{"a turn with a second message counts once", []string{cxTurn("1"), cxUser("a"), cxAgent("A"), cxTurn("2"), cxUser("old"), cxAgent("B"), cxUser("b2"), back(1), cxTurn("3"), cxUser("c")},
			[]string{"typed: a", "agent: A", "typed: c"}},
		{"again after a rollback", []string{cxTurn("1"), cxUser("old"), cxTurn("2"), cxUser("b"), back(1), cxTurn("3"), cxUser("c"), back(2), cxTurn("4"), cxUser("d")},
			[]string{"typed: d"}},
		{"nested", []string{cxTurn("1"), cxUser("a"), cxTurn("2"), cxUser("old"), cxTurn("3"), cxUser("c"), back(1), cxTurn("4"), cxUser("d"), back(1), back(1), cxTurn("5"), cxUser("e")},
			[]string{"typed: a", "typed: e"}},
		{"after a compaction", []string{cxTurn("1"), cxUser("a"), cxAgent("A"), `compacted {"message":"so far","replacement_history":[]}`, cxTurn("2"), cxUser("old"), cxAgent("B"), back(1), cxTurn("3"), cxUser("c")},
			[]string{"typed: a", "agent: A", "compaction_summary: so far", "typed: c"}},
		{"of a turn that was compacted", []string{cxTurn("1"), cxUser("a"), cxTurn("2"), cxUser("old"), cxAgent("B"), `compacted {"message":"a and b","replacement_history":[]}`, back(1), cxTurn("3"), cxUser("c")},
			[]string{"typed: a", "typed: c"}},
		{"a turn without words of the user is none", []string{cxTurn("1"), cxUser("a"), cxTurn("2"), cxUser("old"), cxTurn("3"), cxAgent("goes on"), back(1), cxTurn("4"), cxUser("c")},
			[]string{"typed: a", "typed: c"}},
		{"nothing yet", []string{back(1), cxTurn("1"), cxUser("a")}, []string{"typed: a"}},
		{"more turns than there are", []string{cxTurn("1"), cxUser("old"), back(9), cxTurn("2"), cxUser("b")}, []string{"typed: b"}},
	})
}

func TestCodexPassesOverWhatItsParentGives(t *testing.T) {
	t.Parallel()
	// Version 7 UUIDs: the parent's turn is older than the fork, the fork's younger.
	const (
		parent  = "01980000-0000-7000-8000-000000000001"
		oldTurn = "01980000-0001-7000-8000-000000000002"
		fork    = "01990000-0000-7000-8000-000000000003"
		newTurn = "01990000-0001-7000-8000-000000000004"
	)
	meta := func(id, extra string) string {
		return `session_meta {"id":"` + id + `","timestamp":"2026-03-01T10:00:00Z","cwd":"/w","source":"cli"` + extra + `}`
	}
	forked, parents := meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, "")
	spawned := `session_meta {"id":"c","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}`
	const lead = "compaction_summary: Forked from another session, whose last request was:\n\nparent's"
	play(t, "x.jsonl", cxSession, []scene{
		{"told by turn ids", []string{forked, parents, cxTurn(oldTurn), cxInput("first"), cxUser("first"), cxInput("parent's"), cxUser("parent's"), cxTurn(newTurn), cxInput("own"), cxUser("own")},
			[]string{lead, "typed: own"}},
		{"interrupted before its first turn", []string{forked, parents, cxTurn(oldTurn), cxInput("parent's"), cxUser("parent's")}, nil},
		{"told by turn_context alone", []string{forked, parents, `turn_context {"turn_id":"` + oldTurn + `"}`, cxInput("parent's"), cxUser("parent's"), cxAgent("parent's answer"),
			cxInput("own"), cxUser("own"), `turn_context {"turn_id":"` + newTurn + `"}`}, []string{lead, "typed: own"}},
		{"a child that repeats nothing", []string{meta("child-1", `,"parent_thread_id":"main-1"`), cxTurn("t1"), cxUser("own")}, []string{"typed: own"}},
		{"a fork that rests on another file", []string{meta(fork, `,"forked_from_id":"`+parent+`","history_base":{"thread_id":"`+parent+`","end_ordinal_exclusive":4}`), cxUser("own")}, []string{"typed: own"}},
		{"a later meta of another thread", []string{meta(fork, ""), cxTurn(newTurn), cxInput("own"), cxUser("own"), cxUser("more"), parents, cxUser("end")},
			[]string{"typed: own", "typed: more", "typed: end"}},
		{"a spawned thread that begins at an ordinal", []string{spawned + `,"subagent_history_start_ordinal":2},"ordinal":0`, cxUser("parent's") + `,"ordinal":1`, cxUser("check it") + `,"ordinal":2`},
			[]string{"subagent_task: check it"}},
		{"a sub-agent's inherited words", []string{spawned + "}", cxInput("parent's") + `,"metadata":{"inherited_user_message":true}`, cxInput("check it") + `,"metadata":{"client_authored":false}`},
			[]string{"subagent_task: check it"}},
	})
}

func TestCodexReadsTheFirstGeneration(t *testing.T) {
	t.Parallel()
	path := write(t, "x.jsonl",
		`{"id":"`+thread+`","timestamp":"2025-06-01T08:00:00Z","instructions":"be brief","git":{"branch":"dev"}}`,
		`{"record_type":"state"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\nCurrent working directory: /w/old\nApproval policy: never\n</environment_context>"}]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"list files"}]}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`,
		`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c1"}`,
		`{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a.go\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one file"}]}`)
	items, _ := read(t, path)
	expect(t, items, "typed: list files", "shell(ls) =0 a.go", "agent: one file")
	head := probe(t, path)
	if head.ID != thread || head.CWD != "/w/old" || head.Branch != "dev" || head.Title != "list files" {
		t.Errorf("head %+v", head)
	}
	if items[1].CWD != "/w/old" || items[1].Branch != "dev" {
		t.Errorf("in force: %q %q", items[1].CWD, items[1].Branch)
	}
}

func TestCodexFindsItsFilesWhereverVersionsPutThem(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	name := "rollout-2026-03-01T11-00-00-" + thread
	want := []string{"archived_sessions/" + name + ".jsonl.zst", "rotated_rollout_segments/2025/01/03/" + name + "_" + seg2 + ".jsonl",
		"rotated_rollout_segments/" + thread + "/" + seg3 + "/" + name + ".jsonl", "sessions/2026/03/01/" + name + ".jsonl",
		"sessions/2026/03/01/" + name + "_" + seg2 + ".jsonl", "sessions/" + name + ".jsonl", "sessions/rollout-2025-04-20-abc.json"}
	for _, file := range append([]string{"history.jsonl", "session_index.jsonl", "sessions/2026/03/01/notes.jsonl", "sessions/" + name + ".jsonl.tmp", "auth.json", "log/" + name + ".jsonl"}, want...) {
		writeAt(t, home+"/"+file, "{}\n")
	}
	env := Env{Getenv: func(key string) string {
		if key == "CODEX_HOME" {
			return home
		}
		return ""
	}}
	var got []string
	for _, e := range collect(t, func(fn func(Entry) error) error { return Walk(t.Context(), env, fn) }) {
		got = append(got, strings.TrimPrefix(e.Path, home+"/"))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}

func TestCodexFollowsDirectoryAndBranch(t *testing.T) {
	t.Parallel()
	items, _ := read(t, write(t, "x.jsonl", cx(cxMeta(""), cxTurn("t1"), cxUser("a"),
		`turn_context {"turn_id":"t2","cwd":"file:///w/other","model":"m"}`, cxUser("b"),
		cxMeta(`,"x":1`), `session_meta {"id":"`+thread+`","cwd":"/w/third","git":{"branch":"fix"}}`, cxUser("c"),
		`session_meta {"id":"01990000-0000-7000-8000-0000000000ff","cwd":"/elsewhere","git":{"branch":"no"}}`, cxUser("d"))...))
	for i, want := range []struct{ cwd, branch string }{{"/w/app", "main"}, {"/w/other", "main"}, {"/w/third", "fix"}, {"/w/third", "fix"}} {
		if it := items[i]; it.CWD != want.cwd || it.Branch != want.branch {
			t.Errorf("item %d: %q %q, want %+v", i+1, it.CWD, it.Branch, want)
		}
	}
}

func TestCodexOwnRunIsKnownByItsFirstPrompt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		own   bool
	}{
		{"after injected text", []string{cxInput("<environment_context>x</environment_context>"), cxInput("memoir:own-run\nextract"), cxUser("memoir:own-run\nextract")}, true},
		{"in a later prompt", []string{cxUser("what is this?"), cxUser("memoir:own-run")}, false},
		{"in what a tool printed", []string{cxUser("grep it"), cxCall("1", "exec_command", `{"cmd":"grep"}`), cxOutput("1", q("memoir:own-run"))}, false},
	}
	for _, tt := range tests {
		head := probe(t, write(t, "x.jsonl", cx(append([]string{cxMeta("")}, tt.lines...)...)...))
		if (head.Kind == memoir.KindOwnRun) != tt.own {
			t.Errorf("%s: kind %s", tt.name, head.Kind)
		}
	}
}

func TestCodexKinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, meta string
		kind       memoir.SessionKind
		parent     string
	}{
		{"a person's", `"source":"cli","thread_source":"user"`, memoir.KindMain, ""},
		{"of an editor", `"source":"vscode"`, memoir.KindMain, ""},
		{"headless", `"source":"exec","thread_source":"user"`, memoir.KindAutomation, ""},
		{"a guardian", `"source":{"subagent":{"other":"guardian"}},"thread_source":"guardian_review"`, memoir.KindSubagent, ""},
		{"a review", `"source":{"subagent":"review"}`, memoir.KindSubagent, ""},
		{"spawned", `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"p1","depth":1}}},"thread_source":"subagent"`, memoir.KindSubagent, "p1"},
		{"a sub-agent by its thread source", `"source":"cli","thread_source":"subagent","session_id":"root"`, memoir.KindSubagent, "root"},
		{"a fork", `"source":"cli","forked_from_id":"p2"`, memoir.KindMain, "p2"},
		{"of an embedding client", `"source":{"custom":"atlas"},"thread_source":"user"`, memoir.KindMain, ""},
		{"of an embedding client that is not known", `"source":{"custom":"night-watch"},"thread_source":"user"`, memoir.KindAutomation, ""},
		{"of another surface", `"source":"vscode","thread_source":"quick_chat","originator":"Codex Desktop"`, memoir.KindMain, ""},
		{"of a repair of pull requests", `"source":"vscode","thread_source":"pull_request_fix_automation"`, memoir.KindAutomation, ""},
		{"of a thread source that is not known", `"source":"cli","thread_source":"weekly_digest"`, memoir.KindAutomation, ""},
		{"of a source that is not known", `"source":"unknown"`, memoir.KindAutomation, ""},
		{"of another program", `"source":"vscode","originator":"fleet-runner"`, memoir.KindAutomation, ""},
		{"of a program that is named like one of Codex", `"source":"vscode","originator":"Codex Fleet"`, memoir.KindAutomation, ""},
		{"of a thread source in another form", `"source":"cli","thread_source":["digest"]`, memoir.KindAutomation, ""},
		{"of an originator in another form", `"source":"cli","originator":{"name":"codex-tui"}`, memoir.KindAutomation, ""},
		{"of an embedding client in another form", `"source":{"custom":{"id":"atlas"}}`, memoir.KindAutomation, ""},
		{"of fields without a value", `"source":"cli","thread_source":null,"originator":""`, memoir.KindMain, ""},
		{"a memory writer by its thread source", `"source":"cli","thread_source":"memory_consolidation"`, memoir.KindSubagent, ""},
		{"internal", `"source":{"internal":"memory_consolidation"}`, memoir.KindSubagent, ""},
		{"a tool of another program", `"source":"mcp"`, memoir.KindAutomation, ""},
		{"headless by its originator", `"source":"vscode","originator":"codex_exec"`, memoir.KindAutomation, ""},
		{"a headless fork", `"source":"exec","forked_from_id":"p"`, memoir.KindAutomation, "p"},
		{"a headless sub-agent", `"source":"exec","thread_source":"subagent","session_id":"other"`, memoir.KindSubagent, "other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			head := probe(t, write(t, "x.jsonl", cx(`session_meta {"id":"`+thread+`","timestamp":"2026-03-01T10:00:00Z","cwd":"/w",`+tt.meta+`}`, cxUser("a"))...))
			if head.Kind != tt.kind || head.ParentID != tt.parent {
				t.Errorf("kind %s, parent %q; want %s, %q", head.Kind, head.ParentID, tt.kind, tt.parent)
			}
		})
	}
}

func TestCodexHeadNamesTheThread(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := home + "/sessions/2026/03/01/rollout-2026-03-01T11-00-00-" + thread + ".jsonl"
	writeAt(t, path, strings.Join(cx(cxMeta(""), cxUser("the first prompt\nmore")), "\n"))
	head := probe(t, path)
	if head.Remote != "https://host.example/a/b.git" {
		t.Errorf("remote %q", head.Remote)
	}
	if head.Title != "the first prompt" || head.FileID != thread {
		t.Errorf("title %q, file %q", head.Title, head.FileID)
	}
	if want := time.Date(2026, 3, 1, 10, 0, 1, 0, time.UTC); !head.UpdatedAt.Equal(want) {
		t.Errorf("updated %v", head.UpdatedAt)
	}
}

func TestCodexTitles(t *testing.T) {
	t.Parallel()
	named := func(id, title string) string {
		return fmt.Sprintf(`event_msg {"type":"thread_name_updated","thread_id":%q,"thread_name":%q}`, id, title)
	}
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"the first prompt", nil, "a prompt"},
		{"the last name", []string{named(thread, "Old"), named(thread, "Named")}, "Named"},
		{"a name that was taken away", []string{named(thread, "Named"), named(thread, " ")}, "Named"},
		{"a name of the fork's parent", []string{named("other", "no")}, "a prompt"},
	}
	for _, tt := range tests {
		path := write(t, "x.jsonl", cx(append([]string{cxMeta(""), cxUser("a prompt")}, tt.events...)...)...)
		if title := probe(t, path).Title; title != tt.want {
			t.Errorf("%s: title %q, want %q", tt.name, title, tt.want)
		}
	}
}
