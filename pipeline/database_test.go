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
	"memoir/store"
)

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

// sessionsOf lists what is registered, by key.
func sessionsOf(t *testing.T, home string) map[string]memoir.Session {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	rows, err := st.Sessions(t.Context(), store.Filter{})
	must(t, err)
	out := map[string]memoir.Session{}
	for _, s := range rows {
		out[s.Key()] = s
	}
	return out
}
