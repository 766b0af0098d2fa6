package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"memoir"
)

// An agent's database is a file with many sessions: one must be named.
func TestShowOfADatabaseSaysWhichSessionsItHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode.db")
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	insert := func(id string, at int) {
		t.Helper()
		if _, err := db.Exec(`INSERT INTO session VALUES (?, '/srv/app', 'Work', ?, ?)`, id, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`CREATE TABLE session (id, directory, title, time_created, time_updated);
		CREATE TABLE message (id, session_id, time_created, time_updated, data); CREATE TABLE part (id, message_id, time_updated, data)`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := onlySession(t.Context(), path); err == nil || exitCode(err) != exitUsage {
		t.Errorf("without sessions: %v", err)
	}
	insert("ses_old", 1_770_000_000_000)
	session, parts, err := onlySession(t.Context(), path)
	if err != nil || session.ID != "ses_old" || len(parts) != 1 || parts[0].Path != path+"#ses_old" {
		t.Errorf("the only one: %+v, %v, %v", session, parts, err)
	}
	insert("ses_new", 1_780_000_000_000)
	_, _, err = onlySession(t.Context(), path)
	if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "2 sessions, newest first: ses_new, ses_old") ||
		!strings.Contains(memoir.HintOf(err), path+"#ses_new") {
		t.Errorf("of several: %v, hint %q", err, memoir.HintOf(err))
	}
}
