//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// older makes of a home one whose database has an earlier schema, which takes these migrations,
// with as much of what it holds as that schema has room for.
func older(t *testing.T, home string, migrations []string) {
	t.Helper()
	path := filepath.Join(home, databaseName)
	must(t, os.Rename(path, path+".newer"))
	db, err := sql.Open("sqlite3", "file:"+path+"?_foreign_keys=off")
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	run := func(statement string) {
		t.Helper()
		_, err := db.Exec(statement)
		must(t, err)
	}
	for _, migration := range migrations {
		text, err := os.ReadFile(migration)
		must(t, err)
		run(string(text))
	}
	run(`ATTACH '` + path + `.newer' AS newer`)
	for _, table := range columnOf(t, db, `SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		if table == "counter" { // its rows are made by migrations
			run(`UPDATE counter SET n = (SELECT n FROM newer.counter c WHERE c.name = counter.name)`)
			continue
		}
		now := columnOf(t, db, `SELECT name FROM pragma_table_info('`+table+`', 'newer')`)
		var columns []string
		for _, column := range columnOf(t, db, `SELECT name FROM pragma_table_info('`+table+`', 'main')`) {
			if slices.Contains(now, column) {
				columns = append(columns, column)
			}
		}
		if len(columns) == 0 { // a later migration drops the table
			continue
		}
		list := strings.Join(columns, ", ")
		run(`DELETE FROM main.` + table) // a migration may have made rows
		run(`INSERT INTO main.` + table + ` (` + list + `) SELECT ` + list + ` FROM newer.` + table)
	}
	run(`DETACH newer`)
	const applicationID = 0x6d656d72 // as in package store
	run(fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
	run(fmt.Sprintf(`PRAGMA user_version = %d`, versionOf(t, migrations[len(migrations)-1])))
	must(t, os.Remove(path+".newer"))
}

// versionOf is the number that the name of a migration begins with.
func versionOf(t *testing.T, migration string) int {
	t.Helper()
	digits, _, _ := strings.Cut(filepath.Base(migration), "_")
	version, err := strconv.Atoi(digits)
	must(t, err)
	return version
}

// Each earlier schema is migrated, and the migration disturbed at each of its writes.
func TestAMigrationThatIsDisturbedAtAnyWriteIsFinishedByTheNextRun(t *testing.T) {
	t.Parallel()
	migrations, err := filepath.Glob(filepath.Join("..", "..", "store", "migration", "*.sql"))
	must(t, err)
	if len(migrations) < 2 {
		t.Fatal("there is no step to disturb")
	}
	for n := range migrations[1:] {
		t.Run(fmt.Sprintf("from schema %d", versionOf(t, migrations[n])), func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before anything is prepared
			sessions, home := grown(t)
			older(t, home, migrations[:n+1])
			x := newTorture(t, sessions, home)
			x.dense = 4
			x.undisturbed(t)
			// What comes after it is disturbed elsewhere.
			migrated := slices.Index(x.points, "committed store.Open")
			if migrated < 0 {
				t.Fatalf("nothing was migrated: %v", x.points[:min(len(x.points), 20)])
			}
			x.points = x.points[:migrated+1]
			x.killed(t)
			x.starved(t)
		})
	}
}
