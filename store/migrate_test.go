package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"memoir"
)

// withMore returns the program's migrations and some that are yet to come.
func withMore(t *testing.T, more map[string]string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	names, err := fs.Glob(embedded, "migration/*.sql")
	must(t, err)
	for _, name := range names {
		b, err := fs.ReadFile(embedded, name)
		must(t, err)
		all[filepath.Base(name)] = &fstest.MapFile{Data: b}
	}
	for name, sql := range more {
		all[name] = &fstest.MapFile{Data: []byte(sql)}
	}
	return all
}

// oldDatabase returns the path of a database of this program's schema with one project.
func oldDatabase(t *testing.T) string {
	t.Helper()
	s, _ := newStore(t)
	register(t, s, project)
	must(t, s.Close())
	return s.Path()
}

// last is the number of this program's newest migration.
func last(t *testing.T) int64 {
	t.Helper()
	steps, err := migrationsIn(withMore(t, nil))
	must(t, err)
	return steps[len(steps)-1].version
}

// copyOf is where the copy of a database is made before it is migrated on from there.
func copyOf(t *testing.T, path string) string { return fmt.Sprintf("%s.v%d.bak", path, last(t)) }

func schemaOf(t *testing.T, s *Store) (version int64, tables string) {
	t.Helper()
	must(t, s.read(t.Context(), func(tx tx) {
		version = s.schema(tx).version
		tables = strings.Join(tx.texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"), " ")
	}))
	return version, tables
}

func TestAnExistingDatabaseIsCopiedAndMigrated(t *testing.T) {
	t.Parallel()
	path := oldDatabase(t)
	migrations := withMore(t, map[string]string{
		"0098_a.sql": "CREATE TABLE coming (n INTEGER) STRICT;",
		"0099_b.sql": "INSERT INTO coming SELECT count(*) FROM project;",
	})
	s, err := open(t.Context(), path, Options{}, migrations)
	must(t, err)
	defer s.Close()
	if version, tables := schemaOf(t, s); version != 99 || !strings.Contains(tables, "coming") {
		t.Errorf("version %d, tables %s", version, tables)
	}
	if projectRow(t, s, project).ID != project {
		t.Error("the data is gone")
	}
	copied := copyOf(t, path)
	info, err := os.Stat(copied)
	if must(t, err); info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v", info.Mode().Perm())
	}
	old := openAt(t, copied, Options{ReadOnly: true})
	if version, tables := schemaOf(t, old); version != last(t) || strings.Contains(tables, "coming") || projectRow(t, old, project).ID != project {
		t.Errorf("the copy has version %d and tables %s", version, tables)
	}
	// Once is enough.
	must(t, os.Remove(copied))
	again, err := open(t.Context(), path, Options{}, migrations)
	must(t, err)
	must(t, again.Close())
	if _, err := os.Stat(copied); !errors.Is(err, os.ErrNotExist) {
		t.Error("it was copied again though there was nothing to migrate")
	}
}

func TestAMigrationThatFailsLeavesAllAsItWas(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"a mistake":                "CREATE TABLE nonsense (;",
		"a constraint":             "INSERT INTO project (id) VALUES ('" + project + "');",
		"rows that lose their end": "INSERT INTO project_directory (path, project_id) VALUES ('/x', 'gone');",
	} {
		path := oldDatabase(t)
		for range 2 { // trying again is no different
			_, err := open(t.Context(), path, Options{}, withMore(t, map[string]string{
				"0098_good.sql": "CREATE TABLE coming (n INTEGER) STRICT; DELETE FROM project_directory;",
				"0099_bad.sql":  bad,
			}))
			if err == nil || !strings.Contains(err.Error(), copyOf(t, path)) {
				t.Fatalf("%s: error %v does not say where the copy is", name, err)
			}
		}
		for _, path := range []string{path, copyOf(t, path)} {
			s := openAt(t, path, Options{})
			row := projectRow(t, s, project)
			if version, tables := schemaOf(t, s); version != last(t) || strings.Contains(tables, "coming") || len(row.Directories) != 1 {
				t.Errorf("%s: %s has version %d, project %+v, tables %s", name, path, version, row, tables)
			}
			must(t, s.Close())
		}
		if left, _ := filepath.Glob(path + "*.tmp"); len(left) > 0 {
			t.Errorf("%s: left behind %v", name, left)
		}
	}
}

func TestADatabaseThatCannotBeCopiedOrIsOnlyReadIsNotMigrated(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{false, true} {
		path := oldDatabase(t)
		must(t, os.Mkdir(copyOf(t, path), 0o700)) // in the way
		_, err := open(t.Context(), path, Options{ReadOnly: readOnly}, withMore(t, map[string]string{"0098_a.sql": "CREATE TABLE coming (n INTEGER) STRICT;"}))
		if wantCode(t, err, memoir.CodeStorage); errors.Is(err, ErrOutdated) != readOnly || memoir.HintOf(err) == "" {
			t.Errorf("error %v, hint %q", err, memoir.HintOf(err))
		}
		if version, _ := schemaOf(t, openAt(t, path, Options{})); version != last(t) {
			t.Fatalf("version %d", version)
		}
	}
}
