package rollout

import (
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

const piID = "bbbbbbbb-0000-4000-8000-000000000001"

const piV3 = `{"type":"session","version":3,"id":"` + piID + `","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/w/app"}`

// pe makes an entry of a tree: id, its parent, and the other members.
func pe(id, parent, members string) string {
	p := "null"
	if parent != "" {
		p = q(parent)
	}
	return `{"id":"` + id + `","parentId":` + p + `,"timestamp":"2026-03-01T10:00:01.000Z",` + members + `}`
}

func piUser(s string) string {
	return `"type":"message","message":{"role":"user","content":[{"type":"text","text":` + q(s) + `}]}`
}
func piAgent(s string) string {
	return `"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":` + q(s) + `}],"stopReason":"stop"}`
}

// piScript makes the entries of a script of the codemode tool with the record of its calls.
func piScript(output, calls string) []string {
	return []string{
		pe("1", "", `"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"codemode","arguments":{"code":"x"}}],"stopReason":"toolUse"}`),
		pe("2", "1", `"type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"codemode","content":[{"type":"text","text":`+q(output)+`}],"isError":false,"nestedCalls":{"calls":[`+calls+`],"complete":true}}`)}
}

func TestPiReadsTheLivePath(t *testing.T) {
	t.Parallel()
	entries := func(entries ...string) []string { return append([]string{piV3}, entries...) }
	play(t, "x.jsonl", entries, []scene{
		{"a line", []string{pe("1", "", piUser("a")), pe("2", "1", piAgent("A"))}, []string{"typed: a", "agent!: A"}},
		{"an abandoned branch", []string{pe("1", "", piUser("a")), pe("2", "1", piAgent("A")), pe("3", "2", piUser("old")), pe("4", "3", piAgent("OLD")), pe("5", "2", piUser("new"))},
			[]string{"typed: a", "agent!: A", "typed: new"}},
		{"a branch with its summary", []string{pe("1", "", piUser("a")), pe("2", "1", piUser("old")), pe("3", "1", `"type":"branch_summary","fromId":"2","summary":"tried old"`), pe("4", "3", piUser("new"))},
			[]string{"typed: a", "compaction_summary: tried old", "typed: new"}},
		{"a compaction", []string{pe("1", "", piUser("a")), pe("2", "1", `"type":"compaction","summary":"so far","firstKeptEntryId":"1"`), pe("3", "2", piUser("b"))},
			[]string{"typed: a", "compaction_summary: so far", "typed: b"}},
		{"a reset", []string{pe("1", "", piUser("old")), pe("2", "1", `"type":"reset_boundary"`), pe("3", "2", piUser("b"))}, []string{"typed: b"}},
		{"a reset on a branch that was left", []string{pe("1", "", piUser("a")), pe("2", "1", `"type":"reset_boundary"`), pe("3", "1", piUser("b"))}, []string{"typed: a", "typed: b"}},
		{"a lost parent", []string{pe("1", "", piUser("a")), pe("3", "2", piUser("b"))}, []string{"typed: a", "typed: b"}},
		{"a loop of parents", []string{pe("1", "2", piUser("a")), pe("2", "1", piUser("b"))}, []string{"typed: a", "typed: b"}},
		{"entries that name no parent", []string{`{"id":"1",` + piUser("a") + "}", `{"id":"2",` + piAgent("A") + "}", `{"id":"3",` + piUser("b") + "}"}, []string{"typed: a", "agent!: A", "typed: b"}},
		{"an entry without a parent in a tree", []string{pe("1", "", piUser("a")), pe("2", "1", piUser("old")), pe("3", "1", piUser("b")), `{"id":"4",` + piUser("c") + "}"}, []string{"typed: a", "typed: b", "typed: c"}},
		{"parents that are all null", []string{pe("1", "", piUser("a")), pe("2", "", piAgent("A")), pe("3", "", piUser("b"))}, []string{"typed: a", "agent!: A", "typed: b"}},
		{"content of other types", []string{pe("1", "", `"type":"message","message":{"role":"user","content":{"type":"text","text":"a"}}`), pe("2", "1", `"type":"message","message":{"role":"user","content":["b",null,5,{"text":"c"},{"type":"text","text":null}]}`)}, []string{"typed: a", "typed: b\nc"}},
		{"an exit status in a string", []string{pe("1", "", `"type":"message","message":{"role":"bashExecution","command":"ls","output":null,"exitCode":"3"}`)}, []string{"user_shell(ls) !3"}},
		{"what extensions inject", []string{pe("1", "", `"type":"custom_message","customType":"x","content":"remember","display":false`), pe("2", "1", `"type":"custom","customType":"y","data":{}`),
			pe("3", "2", `"type":"message","message":{"role":"hookMessage","content":"x"}`), pe("4", "3", `"type":"message","message":{"role":"developer","content":"x"}`), pe("5", "4", piUser("a"))}, []string{"typed: a"}},
		{"what the agent attributes to itself", []string{pe("1", "", `"type":"message","message":{"role":"user","attribution":"agent","content":"go on"}`), pe("2", "1", piUser("a")),
			pe("3", "2", `"type":"message","message":{"role":"user","attribution":"timer","content":"tick"}`)}, []string{"typed: a"}},
		{"a shell command", []string{pe("1", "", `"type":"message","message":{"role":"bashExecution","command":"ls","output":"a.go\n","exitCode":1,"cancelled":false}`)}, []string{"user_shell(ls) !1 a.go"}},
		{"usage that is attached elsewhere", []string{pe("1", "", piUser("a")), pe("2", "1", piAgent("A")), pe("3", "2", piUser("b")), pe("4", "1", `"type":"model_usage","purpose":"title"`)}, []string{"typed: a", "agent!: A", "typed: b"}},
		{"a second root", []string{pe("1", "", piUser("old")), pe("2", "1", piAgent("OLD")), pe("3", "", piUser("new"))}, []string{"typed: new"}},
		{"a skill that was called", []string{pe("1", "", `"type":"custom_message","customType":"skill-prompt","attribution":"user","content":"# Review\nLong.","details":{"name":"review","args":"the API"}`),
			pe("2", "1", `"type":"custom_message","customType":"skill-prompt","attribution":"user","content":"# Review","details":{"name":"review","args":"x","prompt":"please /skill:review x"}`),
			pe("3", "2", `"type":"custom_message","customType":"skill-prompt","content":"# Loaded by itself","details":{"name":"review"}`)}, []string{"slash_command: /skill:review the API", "slash_command: please /skill:review x"}},
		{"a guest of a shared session", []string{pe("1", "", `"type":"custom_message","customType":"collab-prompt","attribution":"user","content":"and the tests?","details":{"from":"eve"}`)}, []string{"typed: and the tests?"}},
		{"what was typed while the agent was busy", []string{pe("1", "", `"type":"message","message":{"role":"user","steering":true,"content":"stop"}`)}, []string{"queued: stop"}},
		{"images", []string{pe("1", "", `"type":"message","message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"blob:sha256:00ff","mimeType":"image/png"}]}`),
			pe("2", "1", `"type":"message","message":{"role":"user","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`)}, []string{"typed: see"}},
		{"an answer that was cut off", []string{pe("1", "", `"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"I wi"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make"}}],"stopReason":"aborted","errorMessage":"Request was aborted"}`), pe("2", "1", piUser("b"))},
			[]string{"agent: I wi", "bash(make) =", "typed: b"}},
		{"an edited context", []string{pe("1", "", piUser("a")), pe("2", "1", `"type":"context_edit","targetId":"1","replacement":null`), pe("3", "2", `"type":"usage","kind":"cache_warm"`),
			pe("4", "3", `"type":"message","message":{"role":"system","content":"","sections":{"preamble":"You are"}}`)}, []string{"typed: a"}},
		{"a command that is none of the client's", []string{pe("1", "", piUser("/mode")), pe("2", "1", piUser("/etc/hosts is wrong"))}, []string{"slash_command: /mode", "typed: /etc/hosts is wrong"}},
		{"an entry written twice", []string{pe("1", "", piUser("old")), pe("1", "", piUser("old"))}, []string{"typed: old"}},
		{"our own block", []string{pe("1", "", piUser("<memoir-context>old</memoir-context>\nhello"))}, []string{"typed: hello"}},
		{"files given on the command line", []string{pe("1", "", piUser("<file name=\"/a.go\">\npackage a\n</file>\nexplain"))}, []string{"typed: explain"}},
		{"a skill", []string{pe("1", "", piUser("<skill name=\"release\" location=\"/s\">\nsteps\n</skill>\n\nnow"))}, []string{"slash_command: /skill:release now"}},
		{"a plain string", []string{pe("1", "", `"type":"message","message":{"role":"user","content":"a"}`)}, []string{"typed: a"}},
		{"calls and results", []string{
			pe("1", "", `"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make"}},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"/a"}}],"stopReason":"toolUse"}`),
			pe("2", "1", `"type":"message","message":{"role":"toolResult","toolCallId":"c2","toolName":"read","content":[{"type":"text","text":"Command exited with code 9"}],"isError":false}`),
			pe("3", "2", `"type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"no rule\n\nCommand exited with code 2"}],"isError":true}`)},
			[]string{`read({"path":"/a"}) = Command exited with code 9`, "bash(make) !2 no rule"}},
		{"the calls of a script", piScript("Script completed", `{"id":"c1/1","name":"bash","status":"error","arguments":{"command":"make"},"error":"no rule\n\nCommand exited with code 2"},`+
			`{"id":"c1/2","name":"bash","status":"ok","arguments":{"command":"make all"}},{"id":"c1/3","name":"edit","status":"unfinished","argumentsBytes":9000}`),
			[]string{"bash(make) !2 no rule", "bash(make all) =0", "edit() =", `codemode({"code":"x"}) = Script completed`}},
		{"a script that asked memoir", piScript("an earlier rule", `{"id":"c1/1","name":"mcp__memoir__memory_search","status":"ok","arguments":{"query":"q"}}`),
			[]string{`mcp__memoir__memory_search({"query":"q"}) =`, `codemode({"code":"x"}) =`}},
	})
}

func TestPiVersion1IsALine(t *testing.T) {
	t.Parallel()
	path := write(t, "x.jsonl",
		`{"type":"session","id":"`+piID+`","timestamp":"2025-12-01T10:00:00.000Z","cwd":"/w","provider":"p","modelId":"m","branchedFrom":"/s/2025-12-01T00-00-00-000Z_cccccccc-0000-4000-8000-000000000002.jsonl"}`,
		`{"type":"message","timestamp":"2025-12-01T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"a"}]}}`,
		`{"type":"compaction","timestamp":"2025-12-01T10:00:02.000Z","summary":"so far","firstKeptEntryIndex":1}`)
	items, _ := read(t, path)
	expect(t, items, "typed: a", "compaction_summary: so far")
	head := probe(t, path)
	if head.Source != memoir.SourcePi || head.Kind != memoir.KindMain || head.ParentID != "cccccccc-0000-4000-8000-000000000002" {
		t.Errorf("head %+v", head)
	}
}

func TestPiAndOMPAreToldApart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		records    []string
		source     memoir.Source
		kind       memoir.SessionKind
		title      string
	}{
		{"pi", "a.jsonl", []string{piV3, pe("1", "", piUser("hello"))}, memoir.SourcePi, memoir.KindMain, "hello"},
		{"pi with a name", "a.jsonl", []string{piV3, pe("1", "", piUser("hello")), pe("2", "1", `"type":"session_info","name":"Named"`)}, memoir.SourcePi, memoir.KindMain, "Named"},
		{"a title slot", "a.jsonl", []string{`{"type":"title","title":"Slot"}` + strings.Repeat(" ", 200), piV3, pe("1", "", piUser("hello"))}, memoir.SourceOMP, memoir.KindMain, "Slot"},
		{"a title in the header", "a.jsonl", []string{strings.Replace(piV3, `"cwd"`, `"title":"Head","titleSource":"auto","cwd"`, 1)}, memoir.SourceOMP, memoir.KindMain, "Head"},
		{"a changed title", "a.jsonl", []string{strings.Replace(piV3, `"cwd"`, `"title":"Head","cwd"`, 1), pe("1", "", `"type":"title_change","title":"Later"`)}, memoir.SourceOMP, memoir.KindMain, "Later"},
		{"its directory", ".omp/agent/sessions/x/a.jsonl", []string{piV3, pe("1", "", piUser("hello"))}, memoir.SourceOMP, memoir.KindMain, "hello"},
		{"its buckets", "home-app-" + strings.Repeat("0a", 32) + "/x.jsonl", []string{piV3, pe("1", "", piUser("hello"))}, memoir.SourceOMP, memoir.KindMain, "hello"},
		{"a directory below a session", "--w-app--/2026-03-01T10-00-00-000Z_" + piID + "/Explore.jsonl", []string{piV3, pe("1", "", piUser("task"))}, memoir.SourceOMP, memoir.KindSubagent, "task"},
		{"a sub-agent by its first entry", "a.jsonl", []string{piV3, pe("1", "", `"type":"session_init","task":"t"`), pe("2", "1", piUser("task"))}, memoir.SourceOMP, memoir.KindSubagent, "task"},
		{"a model with its provider", "a.jsonl", []string{piV3, pe("1", "", `"type":"model_change","model":"p/m"`), pe("2", "1", piUser("hello"))}, memoir.SourceOMP, memoir.KindMain, "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			head := probe(t, write(t, tt.file, tt.records...))
			if head.Source != tt.source || head.Kind != tt.kind || head.Title != tt.title || head.ID != piID || head.CWD != "/w/app" {
				t.Errorf("head %+v", head)
			}
		})
	}
}

func TestOMPSubagentsLieInTheirParentsDirectory(t *testing.T) {
	t.Parallel()
	const parent, stem = "cccccccc-0000-4000-8000-000000000002", "2026-03-01T10-00-00-000Z_cccccccc-0000-4000-8000-000000000002"
	header := func(id string) string {
		return strings.Replace(piV3, piID, id, 1) + "\n" + pe("1", "", piUser("look")) + "\n"
	}
	for _, bucket := range []string{"--home-m-app--", "-app", "-tmp-app", "-", "tmp-app-" + strings.Repeat("0f", 32)} {
		for _, kept := range []bool{true, false} {
			dir := filepath.Join(t.TempDir(), "sessions", bucket)
			writeAt(t, filepath.Dir(dir)+".jsonl", header("beside all sessions"))
			if kept {
				writeAt(t, filepath.Join(dir, stem+".jsonl"), header(parent))
				writeAt(t, filepath.Join(dir, stem, "0-Scout.jsonl"), header("scout-1"))
			}
			child, grandchild := filepath.Join(dir, stem, "1-Builder.jsonl"), filepath.Join(dir, stem, "0-Scout", "0-Reader.jsonl")
			writeAt(t, child, header("builder-1"))
			writeAt(t, grandchild, header("reader-1"))
			if head := probe(t, child); head.Kind != memoir.KindSubagent || head.ParentID != parent || head.ID != "builder-1" {
				t.Errorf("%s: kind %s, parent %q", bucket, head.Kind, head.ParentID)
			}
			above := parent
			if kept {
				above = "scout-1"
				if head := probe(t, filepath.Join(dir, stem+".jsonl")); head.Kind != memoir.KindMain {
					t.Errorf("%s: the parent is %s", bucket, head.Kind)
				}
			}
			if head := probe(t, grandchild); head.Kind != memoir.KindSubagent || head.ParentID != above {
				t.Errorf("%s: kind %s, parent %q, want %q", bucket, head.Kind, head.ParentID, above)
			}
			items, _ := read(t, child)
			expect(t, items, "subagent_task: look")
		}
	}
}

func TestPiHeaderWithoutAnID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", `"id":null,`, `"id":12,`} {
		path := write(t, "x.jsonl", `{"type":"session","version":3,`+id+`"timestamp":"2026-03-01T10:00:00.000Z","cwd":"/w"}`, pe("1", "", piUser("a")))
		items, _ := read(t, path)
		expect(t, items, "typed: a")
		if h := probe(t, path); h.ID != "x" || h.Source != memoir.SourcePi {
			t.Errorf("head %+v", h)
		}
	}
}

const (
	piParentID   = "cccccccc-0000-4000-8000-000000000002"
	piParentStem = "2026-03-01T09-00-00-000Z_" + piParentID
)

// piForkOf is the header of a session that was forked from another one.
func piForkOf(key, parent string) string {
	return strings.Replace(piV3, `"cwd"`, `"`+key+`":`+q(parent)+`,"cwd"`, 1)
}

func TestPiForkGivesWhatItsParentDoesNot(t *testing.T) {
	t.Parallel()
	header := strings.Replace(piV3, piID, piParentID, 1)
	shared := []string{pe("1", "", piUser("a")), pe("2", "1", piAgent("A"))}
	copied := func(more ...string) []string { return append(append([]string(nil), shared...), more...) }
	tests := []struct {
		name     string
		bucket   string // of the parent; that of the fork is --w--
		parent   []string
		key, ref string
		fork     []string
		want     []string
	}{
		{"by its path", "--w--", copied(pe("3", "2", piUser("on"))), "parentSession", "/home/m/.pi/agent/sessions/--w--/" + piParentStem + ".jsonl",
			copied(pe("9", "2", piUser("b"))), []string{"typed: b"}},
		{"by its id", "--w--", shared, "parentSession", piParentID, copied(pe("9", "2", piUser("b"))), []string{"typed: b"}},
		{"whose parent has undone it", "--w--", copied(pe("3", "", piUser("other"))), "parentSession", piParentID, copied(pe("9", "2", piUser("b"))), []string{"typed: a", "agent!: A", "typed: b"}},
		{"whose parent is gone", "", nil, "parentSession", piParentID, copied(pe("9", "2", piUser("b"))), []string{"typed: a", "agent!: A", "typed: b"}},
		{"that copied nothing, though ids are the same", "--w--", shared, "parentSession", piParentID,
			[]string{strings.Replace(pe("1", "", piUser("x")), "10:00:01", "11:00:01", 1), strings.Replace(pe("2", "1", piAgent("X")), "10:00:01", "11:00:01", 1)}, []string{"typed: x", "agent!: X"}},
		{"whose copies have other times", "--w--", shared, "parentSession", piParentID,
			[]string{strings.Replace(shared[0], "10:00:01", "11:00:01", 1), pe("9", "1", piUser("b"))}, []string{"typed: b"}},
		{"of version 1, without ids", "--w--", []string{`{"timestamp":"2025-12-01T10:00:01.000Z",` + piUser("a") + `}`}, "branchedFrom", "/x/" + piParentStem + ".jsonl",
			[]string{`{"timestamp":"2025-12-01T10:00:01.000Z",` + piUser("a") + `}`, `{"timestamp":"2025-12-01T10:00:09.000Z",` + piUser("b") + `}`}, []string{"typed: b"}},
		{"that names itself", "", nil, "parentSession", piID, copied(), []string{"typed: a", "agent!: A"}},
		{"of a file outside of the sessions", "../../elsewhere", shared, "parentSession", "../../elsewhere/" + piParentStem + ".jsonl", copied(), []string{"typed: a", "agent!: A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sessions := filepath.Join(t.TempDir(), "agent", "sessions")
			if tt.bucket != "" {
				writeAt(t, filepath.Join(sessions, tt.bucket, piParentStem+".jsonl"), strings.Join(append([]string{header}, tt.parent...), "\n"))
			}
			fork := filepath.Join(sessions, "--w--", "2026-03-01T10-00-00-000Z_"+piID+".jsonl")
			writeAt(t, fork, strings.Join(append([]string{piForkOf(tt.key, tt.ref)}, tt.fork...), "\n"))
			items, stats := read(t, fork)
			expect(t, items, tt.want...)
			if stats.Undone != 0 {
				t.Errorf("undone %d", stats.Undone)
			}
		})
	}
}
