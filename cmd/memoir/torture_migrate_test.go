//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// takenBack are, by earlier schema, the statements that take back the migration after it.
var takenBack = map[int]string{
	15: `CREATE TABLE draft (n); CREATE TABLE extraction_mark (n); CREATE TABLE goose_db_version (n)`,
}

// Each earlier schema is migrated, and the migration disturbed at each of its writes.
func TestAMigrationThatIsDisturbedAtAnyWriteIsFinishedByTheNextRun(t *testing.T) {
	t.Parallel()
	migrations, err := filepath.Glob(filepath.Join("..", "..", "store", "migration", "*.sql"))
	must(t, err)
	if len(migrations) != len(takenBack)+1 {
		t.Fatalf("%d migrations are taken back of %q", len(takenBack), migrations)
	}
	for version := range takenBack {
		t.Run(fmt.Sprintf("from schema %d", version), func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before anything is prepared
			sessions, home := grown(t)
			db, err := sql.Open("sqlite3", filepath.Join(home, databaseName))
			must(t, err)
			defer db.Close()
			for _, later := range slices.Backward(slices.Sorted(maps.Keys(takenBack))) {
				if later < version {
					break
				}
				_, err = db.Exec(takenBack[later] + fmt.Sprintf("; PRAGMA user_version = %d", later))
				must(t, err)
			}
			must(t, db.Close())
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
