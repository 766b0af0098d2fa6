package rollout

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
)

// secondStore is a database that OpenCode 2 took over, changed by statements, in its place below home.
func secondStore(t *testing.T, home string, statements ...string) string {
	t.Helper()
	schema, err := os.ReadFile("testdata/opencode2.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, ".local/share/opencode/opencode.db")
	writeAt(t, path, "")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range append([]string{string(schema)}, statements...) {
		ocExec(t, db, statement)
	}
	return path
}

// walked are the sessions that Walk finds below home, and the errors.
func walked(t *testing.T, home string) (sessions map[string]string, errs []string) {
	t.Helper()
	sessions = map[string]string{}
	if err := Walk(t.Context(), Env{Home: home}, func(e Entry) error {
		if e.Err != nil {
			errs = append(errs, e.Err.Error())
			return nil
		}
		if h, err := Probe(e); err == nil {
			sessions[h.ID] = e.Path
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return sessions, errs
}

func TestOpenCodeReadsBothGenerationsOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	secondStore(t, home)
	sessions, errs := walked(t, home)
	if got := slices.Sorted(maps.Keys(sessions)); len(errs) > 0 || !slices.Equal(got, []string{"ses_after", "ses_fork", "ses_moved", "ses_script", "ses_second"}) {
		t.Fatalf("found %q, %q", got, errs)
	}
	for id, want := range map[string][]string{
		"ses_moved":  {"typed: Keep the changelog sorted.", "typed: go on in version 2", "typed: one more in version 1"},
		"ses_after":  {"typed: begun after the copy"},
		"ses_script": {"typed: nobody typed this"},
		"ses_fork":   {"typed: in the fork"},
		"ses_second": {"typed: why does it fail?", "agent: I run it.", "shell(make test) !2 2 failed", "user_shell(git status) =0 clean",
			`edit({"path":"a.go"}) ! The user rejected permission to use this specific tool call with the following feedback: leave that file`,
			"rejection: leave that file", "agent!: I left it.", "slash_command: /compact", "compaction_summary: We looked at the test.", "typed: and now?"},
	} {
		items, stats := read(t, sessions[id])
		expect(t, items, want...)
		if id == "ses_second" && (stats.Unknown["hologram"] != 1 || stats.Undone != 1 || items[len(items)-1].CWD != "/w/sub") {
			t.Errorf("stats %+v, last item %+v", stats, items[len(items)-1])
		}
	}
	if h := probe(t, sessions["ses_moved"]); h.Title != "New title" || h.CWD != "/w" || h.UpdatedAt.UnixMilli() != 1790000700000 {
		t.Errorf("head %+v", h)
	}
	if h := probe(t, sessions["ses_script"]); h.Kind != memoir.KindAutomation {
		t.Errorf("a script's kind is %s", h.Kind)
	}
	if h := probe(t, sessions["ses_fork"]); h.Kind != memoir.KindMain || h.ParentID != "ses_second" {
		t.Errorf("a fork is %+v", h)
	}
}

func TestOpenCodeReadsAStoreThatIsPartlyOfOneGeneration(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		statements []string
		want       []string
	}{
		"a new installation": {[]string{`DROP TABLE session; DROP TABLE message; DROP TABLE part`}, []string{"typed: Keep the changelog sorted.", "typed: go on in version 2"}},
		"a preview, with the sessions of version 1": {[]string{`DROP TABLE session_v2; DROP TABLE message; DROP TABLE part`},
			[]string{"typed: Keep the changelog sorted.", "typed: go on in version 2"}},
		"messages without numbers": {[]string{`DROP INDEX session_message_seq; ALTER TABLE session_message DROP COLUMN seq`},
			[]string{"typed: Keep the changelog sorted.", "typed: go on in version 2", "typed: one more in version 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			secondStore(t, home, tt.statements...)
			sessions, errs := walked(t, home)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			items, _ := read(t, sessions["ses_moved"])
			expect(t, items, tt.want...)
		})
	}
}

func TestAStoreWhoseSchemaIsUnknownIsNamed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	later := secondStore(t, home, `CREATE TABLE session_v3 (id text, directory text, title text, time_created integer)`)
	other := filepath.Join(home, ".local/share/opencode/opencode-next.db")
	db, err := sql.Open("sqlite3", other)
	if err != nil {
		t.Fatal(err)
	}
	ocExec(t, db, `CREATE TABLE conversation (id text)`)
	db.Close()
	want := []string{later, other}
	for _, rel := range []string{".copilot/session-state/all.db", ".claude/projects/-w/sessions.db", ".codex/sessions/threads.sqlite", ".pi/agent/sessions/--w--/log.sqlite3"} {
		path := filepath.Join(home, rel)
		writeAt(t, path, "SQLite format 3\x00")
		want = append(want, path)
	}
	writeAt(t, filepath.Join(home, ".copilot/session-state/x/session.db"), "SQLite format 3\x00") // of a tool
	changed := filepath.Join(home, ".qwen/projects/-w/chats/new.jsonl")
	writeAt(t, changed, `{"kind":"turn","of":"a format that nobody knows"}`+"\n")

	sessions, errs := walked(t, home)
	if len(sessions) != 5 {
		t.Errorf("of the known generations it finds %q", sessions)
	}
	if len(errs) != len(want) {
		t.Errorf("errors %q", errs)
	}
	var unread []string
	if err := Unread(t.Context(), Env{Home: home}, func(_ memoir.Source, err error) { unread = append(unread, err.Error()) }); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(want, changed) {
		if !slices.ContainsFunc(unread, func(said string) bool { return strings.Contains(said, path) }) {
			t.Errorf("%s is not named in %q", path, unread)
		}
	}
}

func TestASessionOfUnknownRecordsIsNamed(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"types":         `DELETE FROM session; DELETE FROM message; UPDATE session_message SET type = 'entry'`,
		"data":          `DELETE FROM session; DELETE FROM message; UPDATE session_message SET data = '{"form":4,"body":{"said":"x"}}'`,
		"data of parts": `DELETE FROM session_v2; DELETE FROM session_message; UPDATE message SET data = '{"form":4}'; UPDATE part SET data = '{"form":4}'`,
	} {
		home := t.TempDir()
		path := secondStore(t, home, statement)
		if sessions, _ := walked(t, home); len(sessions) > 0 {
			t.Errorf("%s: it reads %q", name, sessions)
		}
		unread := 0
		err := Unread(t.Context(), Env{Home: home}, func(source memoir.Source, err error) {
			if source == memoir.SourceOpenCode && strings.HasPrefix(err.Error(), path+"#") {
				unread++
			}
		})
		if err != nil || unread != 3 {
			t.Errorf("%s: %d of the newest 3 sessions are named, %v", name, unread, err)
		}
	}
	file := write(t, "x.jsonl", cc(`user "payload":{"form":4}`, `assistant "payload":{"form":4}`)...)
	if _, err := Probe(Entry{File: memoir.File{Path: file}}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a transcript: %v", err)
	}
}
