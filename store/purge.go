package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

// BeginPurge records that deleted text must also be removed from free pages and copies. BeginForgetting
// can record it as well.
func (s *Store) BeginPurge(ctx context.Context) error {
	return s.explain(s.durably(ctx, beginPurge), "beginning to purge")
}

func beginPurge(t tx) {
	t.exec(`UPDATE counter SET n = 1 WHERE name = 'purge'`)
}

// Purging reports whether a purge was begun and not finished.
func (s *Store) Purging(ctx context.Context) (bool, error) {
	return fetch(ctx, s, func(t tx) bool {
		return t.exists(`SELECT 1 FROM counter WHERE name = 'purge' AND n > 0`)
	}, "looking for a purge")
}

// Purge removes deleted text from the database file and its log, and deletes the backup and the copies made
// before migrations and by repairs. It returns the paths of these copies. It needs exclusive access: the
// error has the code CodeBusy while another process reads or writes. BeginPurge comes first.
func (s *Store) Purge(ctx context.Context) (removed []string, err error) {
	done, err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if removed, err = s.removeCopies(); err == nil {
		err = s.dropBackup()
	}
	if err != nil {
		return removed, err
	}
	if failpoint.Before("vacuum") != nil {
		return removed, s.explain(errFull, "purging database")
	}
	if err := s.onWriter(ctx, func(t tx) { t.exec(`VACUUM`) }); err != nil {
		return removed, s.explain(err, "purging database")
	}
	if err := s.truncateLog(ctx); err != nil {
		return removed, err
	}
	return removed, s.explain(s.inTurn(ctx, durable, func(t tx) {
		t.exec(`UPDATE counter SET n = 0 WHERE name = 'purge'`)
	}), "recording that the database was purged")
}

// truncateLog empties the write-ahead log, which has earlier versions of pages.
func (s *Store) truncateLog(ctx context.Context) error {
	if failpoint.Before("empty the log") != nil {
		return s.explain(errFull, "emptying the log of the database")
	}
	return s.explain(s.onWriter(ctx, func(t tx) {
		var busy, frames, moved int
		if t.get(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &moved); busy != 0 {
			t.fail(memoir.Errorf(memoir.CodeBusy, "the next `memoir run` empties it",
				"another process has the database open, so its log still holds what was deleted"))
		}
	}), "emptying the log of the database")
}

// copyPatterns are the suffixes of copies that were made before migrations and by repairs.
var copyPatterns = []string{".v*.bak", ".v*.bak.tmp", damagedSuffix + "-*", backupSuffix + ".*"}

// removeCopies deletes the copies that were made before migrations and by repairs, and returns their paths.
func (s *Store) removeCopies() (removed []string, err error) {
	dir, name := filepath.Split(s.path)
	for _, pattern := range copyPatterns {
		found, _ := fs.Glob(os.DirFS(dir), name+pattern) // the patterns are valid
		for _, found := range found {
			path := filepath.Join(dir, found)
			if err := failpoint.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return removed, storageError(err, "removing the copy %s", path)
			}
			removed = append(removed, path)
		}
	}
	return removed, nil
}

// Clear removes projects from the database, in one transaction; an empty id stands for the sessions of no project. It
// removes their sessions with files and extractions, jobs, generations, hand edits and redactions. Claims on them are
// lost. The ledger stays, and so do the marks of sessions, so that forgotten and disabled ones do not come back with a
// scan. The folders remain to be removed: see RemovedFolders. The backup is removed first, as by BeginForgetting.
// Clearing an unknown project is not an error.
func (s *Store) Clear(ctx context.Context, projectIDs ...string) error {
	const sessions = `(SELECT key FROM session WHERE project_id IS nullif(?1, '')
		UNION SELECT session_key FROM mark WHERE forgotten AND project_id = ?1)`
	return s.explain(s.durably(ctx, func(t tx) {
		t.fail(s.dropBackup())
		for _, id := range projectIDs {
			t.execEach(id,
				// Sessions move, so an extraction may belong to another project than its session.
				`DELETE FROM extraction WHERE project_id = ?1 OR session_key IN `+sessions,
				`DELETE FROM job WHERE kind = 'extract' AND key IN `+sessions,
				`DELETE FROM redaction WHERE scope = 'extract' AND key IN `+sessions,
				`DELETE FROM session WHERE key IN `+sessions,
				`DELETE FROM file WHERE ?1 = '' AND session_key IS NULL`)
			removeProject(t, id)
		}
	}), "clearing projects")
}

// Text is one text of the database that comes from a session or a person.
type Text struct {
	Table, Column string
	Key           string // of the row
	ProjectID     string // the project that it belongs to; empty: none
	Value, New    string // ReplaceTexts replaces Value by New
	Name          bool   // it is a file name
}

// textTable is a table with columns of such texts. key and project are SQL expressions.
type textTable struct {
	name, key, project string
	columns            []string
	row                string // selects the row whose key is ?2; empty: key = ?2
}

// textTables lists the columns that Texts reads and ReplaceTexts writes, without paths of agents' files and ids. Ids of
// projects are read, and replaced by a merge.
var textTables = []textTable{
	{"extraction", `session_key`, `coalesce(project_id, '')`,
		[]string{statementsColumn, "rollout_summary", "title", "rollout_slug", "cwd", "branch", "history_entry"}, ""},
	{"message", `item || ' ' || (SELECT session_key FROM searchable q WHERE q.seq = message.seq)`,
		`coalesce((SELECT s.project_id FROM searchable q JOIN session s ON s.key = q.session_key
			WHERE q.seq = message.seq), '')`,
		[]string{"text"}, `item = CAST(?2 AS INTEGER)
			AND seq = (SELECT seq FROM searchable WHERE session_key = substr(?2, instr(?2, ' ') + 1))`},
	{"searchable", `session_key`, `coalesce((SELECT project_id FROM session WHERE key = session_key), '')`,
		[]string{toolsColumn}, ""},
	{"received", `project_id || ' ' || origin || ' ' || session || ' ' || hash`, `project_id`,
		[]string{statementsColumn}, ""},
	{"said", `session_key`, `coalesce((SELECT project_id FROM session WHERE key = session_key), '')`,
		[]string{statementsColumn}, ""},
	{"fallback", `session_key`, `coalesce((SELECT project_id FROM session WHERE key = session_key), '')`,
		[]string{"text"}, ""},
	{"hand_edit", `id`, `project_id`, []string{"file", "section", "after", "text", "origin"}, ""},
	{"session", `key`, `coalesce(project_id, '')`, []string{"title", "cwd", "branch", "remote", "error", "origin"}, ""},
	{"file", `path`, `coalesce((SELECT project_id FROM session WHERE key = session_key), '')`,
		[]string{"head", "error"}, ""},
	{"job", `kind || ' ' || key`, `coalesce((SELECT project_id FROM session WHERE session.key = job.key), key)`,
		[]string{"last_error"}, ""},
	{"run", `id`, `''`, []string{"reason", "hint"}, ""},
	{"project", `id`, `id`, []string{"id", "name", "identity", "remote"}, ""},
	{"project_directory", `path`, `project_id`, []string{"origin", "path"}, ""}, // the key is last
	{"project_alias", `project_id || ' ' || alias`, `project_id`, []string{"origin", "alias"}, ""},
}

// nameColumns are the columns whose texts are file names.
var nameColumns = []string{"extraction.rollout_slug", "hand_edit.file", "project.id"}

// Texts calls fn for every text that is not empty, of one project, or of all if projectID is "". It reads
// one snapshot of the database.
func (s *Store) Texts(ctx context.Context, projectID string, fn func(Text) error) error {
	return s.explain(s.read(ctx, func(t tx) {
		for _, table := range textTables {
			query := fmt.Sprintf(`SELECT %s, %s AS project, %s FROM %s WHERE ?1 = '' OR project = ?1`,
				table.key, table.project, strings.ReplaceAll(strings.Join(table.columns, ", "), toolsColumn, "plain(tools)"),
				table.name)
			for scan := range t.rows(query, projectID) {
				t.fail(context.Cause(ctx))
				var key, project string
				values := make([]string, len(table.columns))
				into := []any{&key, &project}
				for i := range values {
					into = append(into, &values[i])
				}
				scan(into...)
				for i, column := range table.columns {
					if values[i] != "" && t.ok() {
						t.fail(fn(Text{Table: table.name, Column: column, Key: key, ProjectID: project, Value: values[i],
							Name: slices.Contains(nameColumns, table.name+"."+column)}))
					}
				}
			}
		}
	}), "reading all texts")
}

// ReplaceTexts replaces texts that Texts returned, in one durable transaction. It leaves texts that another process
// has changed since, and returns the number that it replaced.
func (s *Store) ReplaceTexts(ctx context.Context, texts []Text) (changed int, err error) {
	err = s.durably(ctx, func(t tx) {
		changed = 0
		for _, text := range texts {
			i := slices.IndexFunc(textTables, func(table textTable) bool { return table.name == text.Table })
			row := cmp.Or(textTables[i].row, textTables[i].key+" = ?2")
			// Two hand edits that differed only in a secret become equal: OR REPLACE keeps one of them.
			change := `UPDATE OR REPLACE %[1]s SET %[2]s = ?1 WHERE %[3]s AND %[2]s = ?3`
			if text.Column == toolsColumn {
				change = `UPDATE %s SET %s = packed(?1) WHERE %s AND plain(%[2]s) = ?3`
			}
			changed += int(t.exec(fmt.Sprintf(change, text.Table, text.Column, row), text.New, text.Key, text.Value))
		}
	})
	return changed, s.explain(err, "rewriting texts")
}
