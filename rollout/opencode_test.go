package rollout

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
		{"a quoted argument", "", "", []ocMessage{ocUser("m1", ocText(`"say \"hi\" twice"`)), ocUser("m2", ocText(`"a" or "b"`)), ocUser("m3", ocText(`"`))},
			[]string{`typed: say "hi" twice`, `typed: "a" or "b"`, `typed: "`}},
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
		if _, stats := read(t, path); stats.Undone == 0 || stats.Unknown["hologram"] != 1 || stats.Items != 2 {
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
		repeated    int
	}{
		{"told by its title", "T (fork #1)", [3]string{"m1", "m2", "m3"}, 2},
		{"told by ids that are younger than their messages", "Renamed", [3]string{mintedID(2600), mintedID(2601), mintedID(3000)}, 2},
		{"a session whose messages are older than it says, and no copies", "T", [3]string{mintedID(1000), mintedID(2000), mintedID(3000)}, 0},
		{"one of another program, with ids of its own", "T", [3]string{"m1", "m2_no-number-at-all", "m3"}, 0},
	}
	for _, tt := range tests {
		s := ocSession{id: "ses_1", title: tt.title, after: 2500, messages: []ocMessage{
			ocUser(tt.ids[0], ocText("of the original")), ocAgent(tt.ids[1], ocText("its answer")), ocUser(tt.ids[2], ocText("of the fork"))}}
		want := []string{"typed: of the original", "agent: its answer", "typed: of the fork"}[tt.repeated:]
		for way, path := range stored(t, s) {
			items, _ := read(t, path)
			if got := sketch(items); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q", tt.name, way, got)
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
		{"a run with a rule that is not known", ocSession{title: "G", extra: strings.Replace(deny, `"deny"`, `["relay"]`, 1), messages: turn}, memoir.KindAutomation, "G"},
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
		if it := items[0]; it.CWD != "/w" || !it.At.Equal(time.UnixMilli(ocEpoch+1000)) {
			t.Errorf("%s: prompt %+v", way, it)
		}
		if it := items[1]; it.CWD != "/w/sub" || !it.At.Equal(time.UnixMilli(ocEpoch+2500)) {
			t.Errorf("%s: call %+v", way, it)
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

// opencodeSchema is OpenCode's own, as far as sessions go.
const opencodeSchema = "CREATE TABLE `project` (`id` text PRIMARY KEY, `worktree` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `sandboxes` text NOT NULL);" +
	"CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `workspace_id` text, `parent_id` text, `slug` text NOT NULL, `directory` text NOT NULL, `path` text," +
	"`title` text NOT NULL, `version` text NOT NULL, `share_url` text, `summary_diffs` text, `metadata` text, `cost` real DEFAULT 0 NOT NULL, `revert` text, `permission` text, `agent` text, `model` text," +
	"`time_created` integer NOT NULL, `time_updated` integer NOT NULL, `time_compacting` integer, `time_archived` integer," +
	"CONSTRAINT `a` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE);" +
	"CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL," +
	"CONSTRAINT `b` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE);" +
	"CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL," +
	"CONSTRAINT `c` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE);" +
	"CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);" +
	"CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`,`id`);" +
	"CREATE INDEX `part_session_idx` ON `part` (`session_id`);" +
	"CREATE INDEX `session_parent_idx` ON `session` (`parent_id`);" +
	"INSERT INTO project VALUES ('p', '/w', 1, 1, '[]')"

// ocEpoch is when the first message of a test's session was written, in milliseconds.
const ocEpoch = 1_780_000_000_000

// ocMessage is a message as a test writes it.
type ocMessage struct {
	id    string
	info  string   // members besides time
	parts []string // members besides id
}

func ocUser(id string, parts ...string) ocMessage { return ocMessage{id, `"role":"user"`, parts} }

func ocAgent(id string, parts ...string) ocMessage {
	return ocMessage{id, `"role":"assistant","path":{"cwd":"/w","root":"/w"}`, parts}
}

func ocText(s string) string { return `"type":"text","text":` + q(s) }

func ocTool(tool, state string) string {
	return `"type":"tool","tool":"` + tool + `","callID":"c","state":{` + state + `}`
}

func ocBash(command, output string, exit int) string {
	return ocTool("bash", fmt.Sprintf(`"status":"completed","input":{"command":%q},"output":%q,"metadata":{"exit":%d}`, command, output, exit))
}

// ocSession is a session, to be written in each of OpenCode's ways.
type ocSession struct {
	id       string
	parent   string
	title    string
	extra    string // members of the session's info, each with a comma before it
	after    int64  // milliseconds from ocEpoch to when it was made
	messages []ocMessage
}

func (s ocSession) info() string {
	parent := ""
	if s.parent != "" {
		parent = `,"parentID":"` + s.parent + `"`
	}
	return fmt.Sprintf(`{"id":%q,"projectID":"p","directory":"/w","title":%q,"version":"1.18.0","time":{"created":%d,"updated":%d}%s%s}`,
		s.id, s.title, ocEpoch+s.after, ocEpoch+int64(len(s.messages))*1000, parent, s.extra)
}

// data is a message's info, and its parts, as rows have them: without ids.
func (s ocSession) data(i int) (info string, parts []string, at int64) {
	m := s.messages[i]
	at = ocEpoch + int64(i+1)*1000
	for _, p := range m.parts {
		parts = append(parts, "{"+p+"}")
	}
	return fmt.Sprintf(`{%s,"time":{"created":%d}}`, m.info, at), parts, at
}

// withIDs is data with the ids that files and exports have inside.
func (s ocSession) withIDs(i int) (info string, parts []string) {
	info, parts, _ = s.data(i)
	m := s.messages[i]
	for n, p := range parts {
		parts[n] = fmt.Sprintf(`{"id":"prt_%s_%03d","sessionID":%q,"messageID":%q,%s`, m.id, n, s.id, m.id, p[1:])
	}
	return fmt.Sprintf(`{"id":%q,"sessionID":%q,%s`, m.id, s.id, info[1:]), parts
}

// export is the session as `opencode export` writes it, on one line.
func (s ocSession) export() string {
	var messages []string
	for i := range s.messages {
		info, parts := s.withIDs(i)
		messages = append(messages, `{"info":`+info+`,"parts":[`+strings.Join(parts, ",")+`]}`)
	}
	return `{"info":` + s.info() + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

// pretty is a document as JSON.stringify prints it with two blanks.
func pretty(t testing.TB, document string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(document), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return b.String()
}

// opencodeDatabase makes a database with sessions and returns it, open for writing.
func opencodeDatabase(t testing.TB, path string, sessions ...ocSession) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path+"?_journal_mode=WAL&_busy_timeout=5000&_foreign_keys=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	ocExec(t, db, opencodeSchema)
	for _, s := range sessions {
		insertSession(t, db, s)
	}
	return db
}

func ocExec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}

func insertSession(t testing.TB, db *sql.DB, s ocSession) {
	t.Helper()
	info := []byte(s.info())
	null := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	archived, _ := integer(get(info, "time", "archived"))
	ocExec(t, db, `INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, revert, permission, time_created, time_updated, time_archived)
		VALUES (?, 'p', ?, 's', ?, ?, '1', ?, ?, ?, ?, nullif(?, 0))`, s.id, null(s.parent), getText(info, "directory"), s.title,
		null(string(get(info, "revert"))), null(string(get(info, "permission"))), ocEpoch+s.after, ocEpoch+len(s.messages)*1000, archived)
	for i := range s.messages {
		insertMessage(t, db, s, i)
	}
}

func insertMessage(t testing.TB, db *sql.DB, s ocSession, i int) {
	t.Helper()
	info, parts, at := s.data(i)
	m := s.messages[i]
	ocExec(t, db, `INSERT INTO message VALUES (?, ?, ?, ?, ?)`, m.id, s.id, at, at, info)
	for n, p := range parts {
		ocExec(t, db, `INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, fmt.Sprintf("prt_%s_%03d", m.id, n), m.id, s.id, at, at, p)
	}
}

// stored writes a session in every way, each in a place of its own, and returns
// the paths by the name of the way.
func stored(t testing.TB, s ocSession) map[string]string {
	t.Helper()
	dir := t.TempDir()
	database := filepath.Join(dir, "db", "opencode.db")
	opencodeDatabase(t, database, s)
	return map[string]string{
		"a database":       memberPath(database, s.id),
		"an export":        write(t, "export.json", s.export()),
		"a printed export": write(t, "printed.json", pretty(t, s.export())),
	}
}

// entriesBelow is WalkDir's result as paths below dir, sizes left out.
func entriesBelow(t testing.TB, dir string) map[string]Entry {
	t.Helper()
	found := map[string]Entry{}
	if err := WalkDir(t.Context(), dir, func(e Entry) error {
		rel, err := filepath.Rel(dir, e.Path)
		found[filepath.ToSlash(rel)] = e
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}
