package rollout

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// writeTree writes a session as files and returns its own.
func writeTree(t testing.TB, data string, old bool, s ocSession) string {
	t.Helper()
	storage := filepath.Join(data, "storage")
	own := filepath.Join(storage, "session", "p", s.id+".json")
	partDir := func(m string) string { return filepath.Join(storage, "part", m) }
	if old {
		storage = filepath.Join(data, "project", "w", "storage", "session")
		own = filepath.Join(storage, "info", s.id+".json")
		partDir = func(m string) string { return filepath.Join(storage, "part", s.id, m) }
	}
	writeAt(t, own, pretty(t, s.info()))
	for i, m := range s.messages {
		info, parts := s.withIDs(i)
		writeAt(t, filepath.Join(storage, "message", s.id, m.id+".json"), pretty(t, info))
		for n, p := range parts {
			writeAt(t, filepath.Join(partDir(m.id), fmt.Sprintf("prt_%s_%03d.json", m.id, n)), pretty(t, p))
		}
	}
	return own
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
		"a tree":           writeTree(t, filepath.Join(dir, "tree"), false, s),
		"an earlier tree":  writeTree(t, filepath.Join(dir, "old"), true, s),
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
