package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was forgotten is told by hashes, which say nothing without their key; they and the
// counters of what was redacted outlast a repair, wherever the damage is.
func TestARepairCarriesOverHashesTheirKeyAndCounters(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	db, err := sql.Open("sqlite3", filepath.Join(r.home, databaseName))
	must(t, err)
	_, err = db.Exec(`INSERT INTO forgotten_line (project_id, hash) SELECT id, randomblob(16) FROM project;
		INSERT INTO forgotten_beginning (hash, session_key) VALUES (randomblob(16), ?);
		INSERT INTO redaction (scope, key, rule, n) SELECT 'consolidate', id, 'some-rule', 7 FROM project`, r.forgotten)
	must(t, errors.Join(err, db.Close()))
	want := forgottenRows(t, r.home)
	database, err := os.ReadFile(filepath.Join(r.home, databaseName))
	must(t, err)
	for name, damage := range map[string]func(b []byte){
		"the first page":      func(b []byte) { clear(b[:pageBytes]) },
		"the header alone":    func(b []byte) { clear(b[:16]) },
		"the page of a table": func(b []byte) { clear(b[4*pageBytes : 5*pageBytes]) },
	} {
		b := slices.Clone(database)
		damage(b)
		s := r.damaged(b)
		s.must("doctor", "--repair", "--yes")
		if diff := cmp.Diff(want, forgottenRows(t, s.home)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		s.must("run", "-q")
		if diff := cmp.Diff(want, forgottenRows(t, s.home)); diff != "" {
			t.Errorf("%s, after a run: %s", name, diff)
		}
	}
}

// forgottenRows are the rows of what was forgotten and redacted; each table has some.
func forgottenRows(t *testing.T, home string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, databaseName)+"?mode=ro")
	must(t, err)
	defer db.Close()
	rows := map[string][]string{}
	for table, columns := range map[string]string{"forgotten_key": "hex(key)", "forgotten_line": "project_id || hex(hash)",
		"forgotten_beginning": "hex(hash) || session_key", "redaction": "scope || key || rule || n"} {
		rows[table] = columnOf(t, db, `SELECT `+columns+` FROM `+table+` ORDER BY 1`)
		if len(rows[table]) == 0 {
			t.Errorf("no row of %s in %s", table, home)
		}
	}
	return rows
}
