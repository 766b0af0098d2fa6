package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
)

func TestOpenCodeGivesItems(t *testing.T) {
	t.Parallel()
	stop := func(m ocMessage) ocMessage { m.info += `,"finish":"stop"`; return m }
	child := func(m ocMessage, parent string) ocMessage { m.info += `,"parentID":"` + parent + `"`; return m }
	tests := []struct {
		name     string
		extra    string // of the session
		parent   string
		messages []ocMessage
		want     []string
	}{
		{"a turn", "", "", []ocMessage{ocUser("m1", ocText("hi")), stop(ocAgent("m2", `"type":"step-start"`, `"type":"reasoning","text":"hm"`, ocText("hello"), `"type":"step-finish"`))},
			[]string{"typed: hi", "agent!: hello"}},
		{"text before and after a call", "", "", []ocMessage{ocUser("m1", ocText("hi")), stop(ocAgent("m2", ocText("I run it"), ocBash("make", "no rule\n", 2), ocText("it fails")))},
			[]string{"typed: hi", "agent: I run it", "bash(make) !2 no rule", "agent!: it fails"}},
		{"the states of a call", "", "", []ocMessage{ocAgent("m1",
			ocTool("read", `"status":"completed","input":{"filePath":"a"},"output":"text"`),
			ocTool("read", `"status":"error","input":{"filePath":"b"},"error":"File not found: b"`),
			ocTool("bash", `"status":"running","input":{"command":"sleep"}`), ocTool("edit", `"status":"pending","input":{},"raw":""`))},
			[]string{`read({"filePath":"a"}) = text`, `read({"filePath":"b"}) ! File not found: b`, "bash(sleep) =", "edit({}) ="}},
		{"what a person said when refusing", "", "", []ocMessage{ocAgent("m1", ocTool("bash", `"status":"error","input":{"command":"rm x"},"error":"The user rejected permission to use this specific tool call with the following feedback: move it instead"`)),
			ocAgent("m2", ocTool("bash", `"status":"error","input":{"command":"rm y"},"error":"The user rejected permission to use this specific tool call."`))},
			[]string{"bash(rm x) ! The user rejected permission to use this specific tool call with the following feedback: move it instead", "rejection: move it instead",
				"bash(rm y) ! The user rejected permission to use this specific tool call."}},
		{"what nobody typed", "", "", []ocMessage{ocUser("m1", ocText("look at @a.go"), `"type":"text","synthetic":true,"text":"Called the Read tool"`,
			`"type":"text","ignored":true,"text":"a plugin's note"`, `"type":"file","mime":"image/png","url":"data:image/png;base64,AAAA","filename":"x.png"`, `"type":"agent","name":"explore"`)},
			[]string{"typed: look at @a.go"}},
		{"several texts of one prompt", "", "", []ocMessage{ocUser("m1", ocText("one"), ocText("two"))}, []string{"typed: one\n\ntwo"}},
		{"a command of the person's own", "", "", []ocMessage{ocUser("m1", `"type":"text","synthetic":true,"text":"The following tool was executed by the user"`),
			child(ocAgent("m2", ocTool("bash", `"status":"completed","input":{"command":"git status"},"output":"clean\n","metadata":{"output":"clean\n"}`)), "m1"),
			ocUser("m3", ocText("go on")), child(ocAgent("m4", ocBash("make", "", 0)), "m3")},
			[]string{"user_shell(git status) = clean", "typed: go on", "bash(make) =0"}},
		{"commands", "", "", []ocMessage{ocUser("m1", ocText("Create or update `AGENTS.md` for this repository.\n\nThe goal.\n\nUser-provided focus or constraints (honor these):\nbe brief\n\n## How")),
			ocUser("m2", `"type":"subtask","agent":"explore","prompt":"long","description":"d","command":"review"`), ocUser("m3", `"type":"compaction","auto":false`), ocUser("m4", `"type":"compaction","auto":true`)},
			[]string{"slash_command: /init be brief", "slash_command: /review", "slash_command: /compact"}},
		{"a compaction", "", "", []ocMessage{ocUser("m1", ocText("hi")), {"m2", `"role":"assistant","summary":true,"mode":"compaction"`, []string{ocText("We did this."), ocText("And that.")}}, ocUser("m3", ocText("go on"))},
			[]string{"typed: hi", "compaction_summary: We did this.\n\nAnd that.", "typed: go on"}},
		{"a prompt of `opencode run`", "", "", []ocMessage{ocUser("m1", ocText(`"say \"hi\" to all"`)), ocUser("m2", ocText(`"a" and "b"`)), ocUser("m3", ocText(`"quoted"`))},
			[]string{`typed: say "hi" to all`, `typed: "a" and "b"`, `typed: "quoted"`}},
		{"a message that was reverted", `,"revert":{"messageID":"m3","snapshot":"x"}`, "", []ocMessage{ocUser("m1", ocText("keep")), ocAgent("m2", ocText("kept")), ocUser("m3", ocText("drop")), ocAgent("m4", ocText("dropped"), ocBash("x", "", 0))},
			[]string{"typed: keep", "agent: kept"}},
		{"a part that was reverted", `,"revert":{"messageID":"m2","partID":"prt_m2_001"}`, "", []ocMessage{ocUser("m1", ocText("keep")), ocAgent("m2", ocText("kept"), ocBash("x", "", 0), ocText("dropped")), ocUser("m3", ocText("drop"))},
			[]string{"typed: keep", "agent: kept"}},
		{"a sub-agent", "", "ses_parent", []ocMessage{ocUser("m1", ocText("look at it")), ocAgent("m2", ocText("done"))}, []string{"subagent_task: look at it", "agent: done"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for way, path := range stored(t, ocSession{id: "ses_1", parent: tt.parent, title: "T", extra: tt.extra, messages: tt.messages}) {
				items, stats := read(t, path)
				if got := sketch(items); !slices.Equal(got, tt.want) {
					t.Errorf("%s gives\n%s\nwant\n%s", way, indent(got), indent(tt.want))
				}
				if stats.Malformed != 0 || len(stats.Unknown) != 0 {
					t.Errorf("%s: stats %+v", way, stats)
				}
			}
		})
	}
}

func TestOpenCodeCountsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	s := ocSession{id: "ses_1", title: "T", extra: `,"revert":{"messageID":"m3"}`, messages: []ocMessage{
		ocUser("m1", ocText("keep"), `"type":"text","synthetic":true,"text":"x"`), ocAgent("m2", ocText("kept"), `"type":"hologram"`),
		ocUser("m3", ocText("drop")), ocAgent("m4", ocText("dropped"), ocBash("x", "", 0), ocBash("y", "", 0))}}
	for way, path := range stored(t, s) {
		if _, stats := read(t, path); stats.Undone != 4 || stats.Injected != 1 || stats.Unknown["hologram"] != 1 || stats.Items != 2 {
			t.Errorf("%s: stats %+v", way, stats)
		}
	}
}

// mintedID is the id of a message that was made some milliseconds after ocEpoch.
func mintedID(after int64) string {
	return fmt.Sprintf("msg_%012x001Kx8VtRq2", uint64(ocEpoch+after)<<12&(1<<48-1))
}

func TestOpenCodeForkRepeatsNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title string
		ids         [3]string
		replayed    int
	}{
		{"told by its title", "T (fork #1)", [3]string{"m1", "m2", "m3"}, 2},
		{"told by ids that are younger than their messages", "Renamed", [3]string{mintedID(2600), mintedID(2601), mintedID(3000)}, 2},
		{"a session whose messages are older than it says, and no copies", "T", [3]string{mintedID(1000), mintedID(2000), mintedID(3000)}, 0},
		{"one of another program, with ids of its own", "T", [3]string{"m1", "msg_no-number-at-all", "m3"}, 0},
	}
	for _, tt := range tests {
		s := ocSession{id: "ses_1", title: tt.title, after: 2500, messages: []ocMessage{
			ocUser(tt.ids[0], ocText("of the original")), ocAgent(tt.ids[1], ocText("its answer")), ocUser(tt.ids[2], ocText("of the fork"))}}
		want := []string{"typed: of the original", "agent: its answer", "typed: of the fork"}[tt.replayed:]
		for way, path := range stored(t, s) {
			items, stats := read(t, path)
			if got := sketch(items); !slices.Equal(got, want) || stats.Replayed != tt.replayed {
				t.Errorf("%s, %s: %q, %+v", tt.name, way, got, stats)
			}
		}
	}
}

func TestOpenCodeHead(t *testing.T) {
	t.Parallel()
	turn := []ocMessage{ocUser("m1", ocText("say hello")), ocAgent("m2", ocText("hello"))}
	deny := `,"permission":[{"permission":"question","action":"deny","pattern":"*"}]`
	tests := []struct {
		name  string
		s     ocSession
		kind  memoir.SessionKind
		title string
	}{
		{"a session", ocSession{title: "Greetings", messages: turn}, memoir.KindMain, "Greetings"},
		{"a placeholder", ocSession{title: "New session - 2026-11-21T17:07:23.989Z", messages: turn}, memoir.KindMain, "say hello"},
		{"a fork of a placeholder", ocSession{title: "New session - 2026-11-21T17:07:23.989Z (fork #2)", messages: turn}, memoir.KindMain, "say hello"},
		{"a title that only looks like one", ocSession{title: "New session - of parliament", messages: turn}, memoir.KindMain, "New session - of parliament"},
		{"a sub-agent", ocSession{parent: "ses_0", title: "look (@explore subagent)", messages: turn}, memoir.KindSubagent, "look (@explore subagent)"},
		{"a child with a placeholder", ocSession{parent: "ses_0", title: "Child session - 2026-11-21T17:07:23.989Z", messages: turn}, memoir.KindSubagent, "say hello"},
		{"a headless run", ocSession{title: "G", extra: deny, messages: turn}, memoir.KindAutomation, "G"},
		{"a sub-agent of a headless run", ocSession{parent: "ses_0", title: "G", extra: deny, messages: turn}, memoir.KindSubagent, "G"},
		{"a model call of ours", ocSession{title: "G", messages: []ocMessage{ocUser("m1", ocText(memoir.OwnRunMarker+" x"))}}, memoir.KindOwnRun, "G"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.s.id = "ses_1"
			for way, path := range stored(t, tt.s) {
				h := probe(t, path)
				if h.Source != memoir.SourceOpenCode || h.ID != "ses_1" || h.Kind != tt.kind || h.Title != tt.title || h.CWD != "/w" || h.ParentID != tt.s.parent || h.Size == 0 {
					t.Errorf("%s: head %+v", way, h)
				}
				created, updated := time.UnixMilli(ocEpoch), time.UnixMilli(ocEpoch+int64(len(tt.s.messages))*1000)
				if !h.CreatedAt.Equal(created) || !h.UpdatedAt.Equal(updated) {
					t.Errorf("%s: created %v, updated %v", way, h.CreatedAt, h.UpdatedAt)
				}
			}
		})
	}
}

func TestOpenCodeItemsKnowWhereAndWhen(t *testing.T) {
	t.Parallel()
	moved := ocMessage{"m2", `"role":"assistant","parentID":"m1","path":{"cwd":"/w/sub","root":"/w"}`, []string{
		ocTool("bash", fmt.Sprintf(`"status":"completed","input":{"command":"ls"},"output":"a","time":{"start":%d}`, ocEpoch+2500))}}
	for way, path := range stored(t, ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("hi")), moved}}) {
		items, _ := read(t, path)
		if len(items) != 2 {
			t.Fatalf("%s: %d items", way, len(items))
		}
		if it := items[0]; it.CWD != "/w" || it.TurnID != "m1" || !it.At.Equal(time.UnixMilli(ocEpoch+1000)) {
			t.Errorf("%s: prompt %+v", way, it)
		}
		if it := items[1]; it.CWD != "/w/sub" || it.TurnID != "m1" || !it.At.Equal(time.UnixMilli(ocEpoch+2500)) {
			t.Errorf("%s: call %+v", way, it)
		}
	}
}

// A list of changes may make what an export says of the session long.
func TestOpenCodeExportWithALongHead(t *testing.T) {
	t.Parallel()
	for _, size := range []int{70 << 10, 600 << 10} {
		s := ocSession{id: "ses_1", title: "T", extra: `,"summary":{"diffs":["` + strings.Repeat("x ", size/2) + `"]}`, messages: []ocMessage{ocUser("m1", ocText("hi"))}}
		for _, document := range []string{s.export(), pretty(t, s.export())} {
			items, _ := read(t, write(t, "export.json", document))
			expect(t, items, "typed: hi")
		}
	}
}

func TestOpenCodeIsNotTakenForOthers(t *testing.T) {
	t.Parallel()
	for _, content := range []string{`{"info":{"id":"other","time":{}},"messages":[]}`, `{"info":{"id":"ses_1"},"messages":[]}`, `{"info":{"id":"ses_1","time":{},"role":"user"}}`, `{"info":"ses_1"}`} {
		if h, err := Probe(Entry{File: memoir.File{Path: write(t, "x.json", content)}}); err == nil {
			t.Errorf("%s is a session: %+v", content, h)
		}
	}
}

func TestOpenCodeExportsWithoutTimes(t *testing.T) {
	t.Parallel()
	path := write(t, "a.json", `{"info":{"id":"ses_1","directory":"/w","title":"T"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"hi"}]}]}`)
	items, _ := read(t, path)
	expect(t, items, "typed: hi")
}
