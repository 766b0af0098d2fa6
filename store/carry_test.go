package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
)

// earlier is a database of an earlier schema, with the columns that are carried over.
const earlier = `
PRAGMA application_id = 0x6d656d72;
PRAGMA user_version = 21;
CREATE TABLE withdrawal (project_id, text);
CREATE TABLE project (id, name, identity, remote);
CREATE TABLE project_directory (path, project_id);
CREATE TABLE project_alias (alias, project_id, kind);
CREATE TABLE mark (session_key, disabled, excluded, forgotten, at, project_id);
CREATE TABLE session (key, source, thread_id, project_id, kind, parent, title, cwd, branch, remote, bytes, created_at,
	updated_at, version, error, reason);
CREATE TABLE searchable (seq INTEGER PRIMARY KEY AUTOINCREMENT, session_key);
CREATE TABLE message (id, seq, item, typed, at, text);
CREATE TABLE entry (id INTEGER PRIMARY KEY AUTOINCREMENT, session_key, kind, category, author, filed, accessed_at);
CREATE TABLE extraction (session_key, project_id, raw_memory, rollout_summary, rollout_slug, title, cwd, branch,
	started_at, ended_at, content_hash, filter_version, model, seq, stored_at);
CREATE TABLE note (id, project_id, base, file, action, section, after, text, at);
CREATE TABLE ledger (id, at, run, phase, session_key, project_id, model, calls, input_tokens, cached_tokens,
	output_tokens, cost, duration_ms, outcome, call, estimated, work);

INSERT INTO project SELECT value, substr(value, 1, length(value) - 13), 'host/' || value, ''
	FROM json_each('["memoir-0123456789ab", "other-0123456789ab"]');
INSERT INTO project_directory VALUES ('/src/memoir-0123456789ab', 'memoir-0123456789ab');
INSERT INTO project_alias VALUES ('former', 'memoir-0123456789ab', 'name');
INSERT INTO mark VALUES ('codex:s00', 0, 0, 1, 7, 'memoir-0123456789ab'), ('codex:s01', 1, 0, 0, 7, ''),
	('codex:s02', 0, 1, 0, 7, ''), ('codex:s03', 0, 2, 0, 7, ''), ('memoir:note-4', 0, 0, 1, 7, 'memoir-0123456789ab');
INSERT INTO session SELECT source || ':' || id, source, id, 'memoir-0123456789ab', kind, '', 'about ' || id, '', '', '', 9,
	1000, 1000, '', '', 'up_to_date' FROM (SELECT 'codex' AS source, 's04' AS id, 'main' AS kind
	UNION ALL SELECT 'memoir', value, 'entry' FROM json_each('["note-1", "journal-2", "note-4"]'));
INSERT INTO searchable (session_key) VALUES ('codex:s04'), ('memoir:note-1'), ('memoir:journal-2');
INSERT INTO message SELECT seq, seq, 1, 1, 1000, 'text of ' || session_key FROM searchable;
INSERT INTO entry VALUES (1, 'memoir:note-1', 'note', 'preference', 'user', 1, 1000),
	(2, 'memoir:journal-2', 'journal', '', 'agent', 1, 1000), (4, 'memoir:note-4', 'note', 'fact', 'user', 1, 1000);
INSERT INTO extraction SELECT key, project_id, 'what ' || key || ' says', '', '', title, '', '', 1000, 1000, key, 0, '', 5,
	1000 FROM session WHERE key IN ('memoir:note-1', 'codex:s04');
INSERT INTO note VALUES (1, 'memoir-0123456789ab', 2, 'MEMORY.md', 'removed', '', '', 'of the program', 1000),
	(2, 'memoir-0123456789ab', 5, 'MEMORY.md', 'added', '', '', 'by hand', 1000),
	(3, 'memoir-0123456789ab', 3, 'MEMORY.md', 'removed', '', '', 'by hand', 1000);
INSERT INTO ledger VALUES (3, 1000, 'r', 'extract', 'codex:s04', 'memoir-0123456789ab', 'm', 1, 10, 0, 5, 0.25, 1, 'stored',
	'answered', 0, '');
`

// carryOver returns a new database, and a function that runs docs/carry-over.sql on it and an earlier one.
func carryOver(t *testing.T, more string) (s *Store, run func() error) {
	t.Helper()
	old := filepath.Join(t.TempDir(), "old.db")
	s, _ = newStore(t)
	script, err := os.ReadFile(filepath.Join("..", "docs", "carry-over.sql"))
	must(t, err)
	execute := func(path string, statements ...string) (err error) {
		db, err := sql.Open("sqlite3", path)
		must(t, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		for _, statement := range statements {
			if err == nil {
				_, err = db.ExecContext(t.Context(), statement)
			}
		}
		return err
	}
	must(t, execute(old, earlier+more))
	return s, func() error {
		return execute(s.Path(), "ATTACH 'file:"+old+"?mode=ro' AS old", string(script))
	}
}

func TestCarryingOverFromAnEarlierSchema(t *testing.T) {
	t.Parallel()
	s, run := carryOver(t, "")
	must(t, run())
	scan(t, s, session("s00"), session("s01"), session("s02"), session("s03"), session("s04"))
	var reasons []string
	for _, id := range []string{"s00", "s01", "s02", "s03", "s04"} {
		reasons = append(reasons, string(reasonOf(t, s, id)))
	}
	if got := strings.Join(reasons, " "); got != "forgotten disabled disabled disabled eligible" {
		t.Errorf("reasons %s", got)
	}
	must(t, s.SetExcluded(t.Context(), nil, nil))
	if a, b := reasonOf(t, s, "s01"), reasonOf(t, s, "s03"); a != memoir.ReasonDisabled || b != memoir.ReasonEligible {
		t.Errorf("without excluded directories: %s, %s", a, b)
	}

	entries, err := s.Entries(t.Context(), EntryFilter{Unfiled: true})
	if must(t, err); len(entries) != 2 || entries[1].ID != 1 || entries[1].Text != "text of memoir:note-1" ||
		entries[1].Category != "preference" || entries[0].Kind != memoir.EntryJournal {
		t.Errorf("entries %+v", entries)
	}
	if got := inputs(t, s); len(got) != 1 || got[0].SessionKey != "memoir:note-1" {
		t.Errorf("inputs %+v", got)
	}
	e, err := s.AddEntry(t.Context(), memoir.Entry{ProjectID: other, Kind: memoir.EntryNote, Category: "fact",
		Author: memoir.AuthorUser, Text: "new"}, nil)
	if must(t, err); e.ID != 5 {
		t.Errorf("a new note has the number %d, which one before it had", e.ID)
	}

	must(t, s.RecordHandEdits(t.Context(), project, 1,
		[]memoir.HandEdit{{ProjectID: project, File: "MEMORY.md", Action: memoir.EditAdded, Text: "new"}}))
	edits, err := s.HandEdits(t.Context(), project)
	var texts []string
	for _, edit := range edits {
		texts = append(texts, string(edit.Action)+" "+edit.Text)
	}
	if must(t, err); !slices.Equal(texts, []string{"removed of the program", "was removed by hand", "added by hand", "added new"}) {
		t.Errorf("hand edits %q", texts)
	}
	_, all, err := s.Spent(t.Context(), "")
	used, err2 := s.UsageRows(t.Context(), unixMillis(0))
	must(t, err)
	if must(t, err2); len(used) != 1 || used[0].Usage.Cost != 0.25 || used[0].Outcome != "stored" || all.Calls != 0 {
		t.Errorf("ledger %+v", used)
	}
	if row := projectRow(t, s, project); !row.Due || !slices.Equal(row.Aliases, []string{"former"}) || len(row.Directories) != 1 {
		t.Errorf("project %+v", row)
	}
	faults, err := s.Check(t.Context())
	if must(t, err); len(faults) > 0 {
		t.Errorf("faults %q", faults)
	}
}

func TestCarryingOverIsRefusedUnlessTheHomesAreReady(t *testing.T) {
	t.Parallel()
	s, run := carryOver(t, "")
	must(t, run())
	if err := run(); err == nil || !strings.Contains(err.Error(), "the new home already has sessions") {
		t.Errorf("a second time: %v", err)
	}
	if entries, err := s.Entries(t.Context(), EntryFilter{}); err != nil || len(entries) != 2 {
		t.Errorf("entries %+v, %v", entries, err)
	}
	s, run = carryOver(t, "INSERT INTO withdrawal VALUES ('"+project+"', 'x');")
	if err := run(); err == nil || !strings.Contains(err.Error(), "unfinished forget") {
		t.Errorf("while forgetting: %v", err)
	}
	if n := rows(t, s)["mark"]; n != 0 {
		t.Errorf("%d marks", n)
	}
}
