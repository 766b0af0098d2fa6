package pipeline_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/pipeline"
)

// growing are the formats whose files are appended to, each with how a session
// begins and how a turn, with what a person says in it, is written.
var growing = []struct {
	source memoir.Source
	file   string
	begin  string
	turn   func(n int, said string) string
}{
	{memoir.SourceCodex, "rollout-2026-05-01T10-00-00-01a10000-0000-7000-8000-000000000001.jsonl",
		`{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":"01a10000-0000-7000-8000-000000000001","timestamp":"2026-05-01T10:00:00Z","cwd":"/srv/app","originator":"codex_cli_rs","source":"cli"}}` + "\n",
		func(n int, said string) string {
			return fmt.Sprintf(`{"timestamp":"2026-05-01T10:%02[1]d:01Z","type":"turn_context","payload":{"turn_id":"t%[1]d","cwd":"/srv/app"}}
{"timestamp":"2026-05-01T10:%02[1]d:02Z","type":"event_msg","payload":{"type":"user_message","message":%[2]q}}
{"timestamp":"2026-05-01T10:%02[1]d:30Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Understood, turn %[1]d."}]}}
`, n, said)
		}},
	{memoir.SourceClaude, "0b1c7a52-0000-4000-8000-000000000001.jsonl", "",
		func(n int, said string) string {
			return fmt.Sprintf(`{"type":"user","uuid":"u%[1]d","parentUuid":%[3]s,"sessionId":"0b1c7a52-0000-4000-8000-000000000001","cwd":"/srv/app","timestamp":"2026-05-01T10:%02[1]d:02Z","message":{"role":"user","content":%[2]q}}
{"type":"assistant","uuid":"a%[1]d","parentUuid":"u%[1]d","sessionId":"0b1c7a52-0000-4000-8000-000000000001","cwd":"/srv/app","timestamp":"2026-05-01T10:%02[1]d:30Z","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"text","text":"Understood, turn %[1]d."}]}}
`, n, said, parent("a", n))
		}},
}

// parent is the JSON of the entry before a turn.
func parent(prefix string, n int) string {
	if n == 1 {
		return "null"
	}
	return fmt.Sprintf("%q", fmt.Sprint(prefix, n-1))
}

// put writes a session's file, with a time of its own for each turn.
func put(t *testing.T, path, content string, turns int) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	writeIn(t, path, content)
	at := time.Date(2026, 5, 1, 11, turns, 0, 0, time.UTC)
	must(t, os.Chtimes(path, at, at))
}

func TestASessionThatGrewIsExtractedExactlyOnceMore(t *testing.T) {
	t.Parallel()
	for _, format := range growing {
		t.Run(string(format.source), func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			path := filepath.Join(dir, "sessions", filepath.FromSlash(format.file))
			o := options(home, filepath.Join(dir, "sessions"))
			expect := func(what string, want pipeline.Phase1Report) {
				t.Helper()
				report := run(t, o)
				if report.Phase1 != want {
					t.Errorf("%s: %+v, want %+v", what, report.Phase1, want)
				}
				if again := run(t, o); again.Phase1 != (pipeline.Phase1Report{}) {
					t.Errorf("%s: once more: %+v", what, again.Phase1)
				}
			}
			text := format.begin + format.turn(1, "Never deploy on a Friday.")
			put(t, path, text, 1)
			expect("new", pipeline.Phase1Report{Claimed: 1, Stored: 1})

			text += format.turn(2, "Always run make lint before a commit.")
			put(t, path, text, 2)
			expect("grown", pipeline.Phase1Report{Claimed: 1, Stored: 1})
			sessions := sessionsOf(t, home)
			for _, s := range sessions {
				if len(sessions) != 1 || s.UpdatedAt.Format("15:04:05") != "10:02:30" || s.Title == "" {
					t.Errorf("registered as %+v", sessions)
				}
			}

			put(t, path, text, 3)
			expect("touched", pipeline.Phase1Report{Unchanged: 1})

			cut := format.turn(3, "Use tabs in the Makefile.")
			put(t, path, text+cut[:len(cut)/3], 4)
			run(t, o)
			put(t, path, text+cut, 5)
			expect("grown across a cut line", pipeline.Phase1Report{Claimed: 1, Stored: 1})

			put(t, path+".new", format.begin+format.turn(1, "Never deploy on a Monday."), 6)
			must(t, os.Rename(path+".new", path))
			expect("replaced", pipeline.Phase1Report{Claimed: 1, Stored: 1})
		})
	}
}

func TestATouchedSessionTakesNoPlaceInTheCap(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	codex, claude := growing[0], growing[1]
	touched := filepath.Join(dir, codex.file)
	put(t, touched, codex.begin+codex.turn(9, "Never deploy on a Friday."), 1) // newer: claimed before the other
	o := options(home, dir)
	run(t, o)
	put(t, touched, codex.begin+codex.turn(9, "Never deploy on a Friday."), 2)
	put(t, filepath.Join(dir, claude.file), claude.turn(1, "Always run make lint before a commit."), 1)
	o.Limit = 1
	if report := run(t, o); report.Phase1 != (pipeline.Phase1Report{Claimed: 1, Stored: 1, Unchanged: 1}) {
		t.Errorf("%+v", report.Phase1)
	}
}

// agentDatabase is a database in which an agent keeps its sessions.
type agentDatabase struct {
	t    *testing.T
	db   *sql.DB
	path string
	n    int
}

func newAgentDatabase(t *testing.T, dir string) *agentDatabase {
	t.Helper()
	d := &agentDatabase{t: t, path: filepath.Join(dir, "opencode.db")}
	var err error
	if d.db, err = sql.Open("sqlite3", d.path+"?_journal_mode=WAL&_busy_timeout=5000"); err != nil {
		t.Fatal(err)
	}
	d.db.SetMaxOpenConns(1)
	t.Cleanup(func() { d.db.Close() })
	d.exec(`CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
			revert text, permission text, time_created integer NOT NULL, time_updated integer NOT NULL);
		CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
		CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
		CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
		CREATE INDEX part_message_id_id_idx ON part (message_id, id)`)
	return d
}

func (d *agentDatabase) exec(statement string, args ...any) {
	d.t.Helper()
	if _, err := d.db.Exec(statement, args...); err != nil {
		d.t.Fatal(err)
	}
}

func (d *agentDatabase) session(id string, prompts ...string) {
	d.t.Helper()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC).UnixMilli()
	d.exec(`INSERT INTO session VALUES (?, NULL, '/srv/app', 'Work', '1', NULL, NULL, ?, ?)`, id, at, at)
	for _, prompt := range prompts {
		d.prompt(id, prompt)
	}
}

func (d *agentDatabase) prompt(id, text string) {
	d.t.Helper()
	d.n++
	at := time.Date(2026, 5, 1, 10, d.n, 0, 0, time.UTC).UnixMilli()
	message := fmt.Sprintf("msg_%03d", d.n)
	d.exec(`INSERT INTO message VALUES (?, ?, ?, ?, ?)`, message, id, at, at, fmt.Sprintf(`{"role":"user","time":{"created":%d}}`, at))
	d.exec(`INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, fmt.Sprintf("prt_%03d", d.n), message, id, at, at, fmt.Sprintf(`{"type":"text","text":%q}`, text))
}

func TestADatabaseOfThreeSessionsGivesThreeExtractions(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	d := newAgentDatabase(t, dir)
	d.session("ses_a", "Never use npm, always use pnpm.")
	d.session("ses_b", "Always write the header of a fixture.")
	d.session("ses_c", "Never edit generated files.")

	o := options(home, dir)
	first := run(t, o)
	if first.Scan.Files != 3 || first.Scan.Sessions != 3 || first.Phase1.Claimed != 3 || first.Phase1.Stored != 3 {
		t.Fatalf("first: %+v, %+v", first.Scan, first.Phase1)
	}
	if text := memoryOf(t, first, "app", "MEMORY.md"); !strings.Contains(text, "pnpm") || !strings.Contains(text, "ses_b") {
		t.Errorf("memory:\n%s", text)
	}
	sessions := sessionsOf(t, home)
	if s := sessions["opencode:ses_a"]; s.CWD != "/srv/app" || s.Title != "Work" || s.Bytes == 0 || len(s.Files) != 1 || s.Files[0].Path != d.path+"#ses_a" {
		t.Errorf("session %+v", s)
	}

	// The file changes, its sessions don't.
	d.exec(`CREATE TABLE other (x)`)
	d.exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	must(t, os.Chtimes(d.path, time.Now(), time.Now()))
	if again := run(t, o); again.Scan.Changed != 0 || again.Phase1 != (pipeline.Phase1Report{}) {
		t.Errorf("nothing new: %+v, %+v", again.Scan, again.Phase1)
	}

	d.prompt("ses_b", "Never deploy on a Friday.")
	second := run(t, o)
	if second.Scan.Changed != 1 || second.Phase1 != (pipeline.Phase1Report{Claimed: 1, Stored: 1}) {
		t.Errorf("a new message: %+v, %+v", second.Scan, second.Phase1)
	}
	if text := memoryOf(t, second, "app", "MEMORY.md"); !strings.Contains(text, "Friday") || !strings.Contains(text, "pnpm") {
		t.Errorf("memory:\n%s", text)
	}

	d.exec(`UPDATE session SET "revert" = '{"messageID":"msg_001"}', time_updated = time_updated + 1 WHERE id = 'ses_a'`)
	third := run(t, o)
	if text := memoryOf(t, third, "app", "MEMORY.md"); strings.Contains(text, "pnpm") || !strings.Contains(text, "Friday") {
		t.Errorf("what was reverted is still there:\n%s", text)
	}
}
