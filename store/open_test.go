package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"memoir"
)

func TestANewDatabaseIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "home", "memoir.db")
	s := openAt(t, path, Options{})
	register(t, s, project) // makes the files beside it, too
	for name, want := range map[string]os.FileMode{"": 0o600, "-wal": 0o600, "-shm": 0o600, "/..": 0o700, "/../..": 0o700} {
		target := path + name
		if strings.HasPrefix(name, "/") {
			target = filepath.Join(path, name)
		}
		info, err := os.Stat(target)
		if must(t, err); info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", target, info.Mode().Perm(), want)
		}
	}
}

func TestTheConnectionsHaveThePragmasThatTheyNeed(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	const normal, full = 1, 2 // https://www.sqlite.org/pragma.html#pragma_synchronous
	for name, want := range map[string]struct {
		write       func(context.Context, func(tx)) error
		synchronous int
	}{"durable": {s.durably, full}, "quick": {s.quickly, normal}} {
		var mode string
		var synchronous, foreign, secure, temporary int
		must(t, want.write(t.Context(), func(t tx) {
			t.get("PRAGMA journal_mode", nil, &mode)
			t.get("PRAGMA synchronous", nil, &synchronous)
			t.get("PRAGMA foreign_keys", nil, &foreign)
			t.get("PRAGMA secure_delete", nil, &secure)
			t.get("PRAGMA temp_store", nil, &temporary)
		}))
		const inMemory = 2
		if mode != "wal" || synchronous != want.synchronous || foreign != 1 || secure != 1 || temporary != inMemory {
			t.Errorf("%s: journal %s, synchronous %d, foreign keys %d, secure delete %d, temporary files %d",
				name, mode, synchronous, foreign, secure, temporary)
		}
	}
	if _, err := s.readers.Exec("DELETE FROM job"); err == nil {
		t.Error("a reader could write")
	}
}

func TestAnyPathWillDo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?mode=ro#c%41&ü", "memoir.db")
	register(t, openAt(t, path, Options{}), project)
	if row := projectRow(t, openAt(t, path, Options{ReadOnly: true}), project); row.ID != project {
		t.Fatal(row)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}

func TestReadingWhatIsNotThereMakesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home", "memoir.db")
	_, err := Open(t.Context(), path, Options{ReadOnly: true})
	wantCode(t, err, memoir.CodeNotFound)
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the folder was made: %v", err)
	}
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, nil, 0o600)) // as another process is just making it
	_, err = Open(t.Context(), path, Options{ReadOnly: true})
	wantCode(t, err, memoir.CodeNotFound)
}

func TestAReaderDoesNotWrite(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Close()) // no files beside it
	before, err := os.ReadFile(s.Path())
	must(t, err)
	r := openAt(t, s.Path(), Options{ReadOnly: true})
	if len(inputs(t, r)) != 1 {
		t.Fatal("read nothing")
	}
	wantCode(t, r.SetDisabled(t.Context(), "codex:s00", true), memoir.CodeInternal)
	_, err = r.ClaimSessions(t.Context(), claimOptions(1))
	wantCode(t, err, memoir.CodeInternal)
	must(t, r.Close())
	after, err := os.ReadFile(s.Path())
	if must(t, err); !bytes.Equal(before, after) {
		t.Fatal("reading changed the file")
	}
}

func TestADatabaseThatCannotBeUsedIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	sound := func(t *testing.T, path string) {
		s := openAt(t, path, Options{})
		register(t, s, project)
		var many []memoir.Session
		for i := range 200 {
			many = append(many, session(fmt.Sprintf("%s-%d", strings.Repeat("s", 20), i)))
		}
		scan(t, s, many...)
		must(t, s.Close())
	}
	run := func(query string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite3", path)
			must(t, err)
			defer db.Close()
			_, err = db.Exec(query)
			must(t, err)
		}
	}
	tests := []struct {
		name    string
		make    func(*testing.T, string)
		code    memoir.Code
		message string
	}{
		{"a text", func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("# notes\nmine\n"), 0o600)) }, memoir.CodeCorrupt, "not a database"},
		{"zeros", func(t *testing.T, path string) { must(t, os.WriteFile(path, make([]byte, 8192), 0o600)) }, memoir.CodeCorrupt, "not a database"},
		{"one that lost its second half", func(t *testing.T, path string) {
			sound(t, path)
			info, err := os.Stat(path)
			must(t, err)
			must(t, os.Truncate(path, info.Size()/2))
		}, memoir.CodeCorrupt, "damaged"},
		{"another program's", run("CREATE TABLE bookmark (url TEXT)"), memoir.CodeCorrupt, "of another program"},
		{"one of a newer memoir", func(t *testing.T, path string) { sound(t, path); run("PRAGMA user_version = 99")(t, path) }, memoir.CodeNewer, "schema 99"},
		{"one of an earlier schema", run("CREATE TABLE mark (n); PRAGMA application_id = 0x6d656d72; PRAGMA user_version = 21"), memoir.CodeStorage, "before the first release"},
	}
	for _, tt := range tests {
		for _, readOnly := range []bool{true, false} {
			dir := t.TempDir()
			path := filepath.Join(dir, "memoir.db")
			tt.make(t, path)
			before, err := os.ReadFile(path)
			must(t, err)
			s, err := Open(t.Context(), path, Options{ReadOnly: readOnly})
			if err == nil { // damage further in is found when it is read
				_, err = s.Sessions(t.Context(), Filter{})
				s.Close()
			}
			if memoir.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.message) || !strings.Contains(err.Error(), path) || memoir.HintOf(err) == "" {
				t.Errorf("%s (read only %v): %q with code %q and hint %q", tt.name, readOnly, err, memoir.CodeOf(err), memoir.HintOf(err))
			}
			after, err := os.ReadFile(path)
			if must(t, err); !bytes.Equal(before, after) {
				t.Errorf("%s (read only %v): the file was changed", tt.name, readOnly)
			}
		}
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 300))
	if _, err := Open(t.Context(), long, Options{}); strings.Count(fmt.Sprint(err), long) != 1 {
		t.Errorf("the path is not named once: %v", err)
	}
}

// Writes that wait together share a transaction, and one that fails costs no other.
func TestWritesThatWaitTogetherAreAllAnswered(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	bad := errors.New("bad")
	s.writing <- struct{}{} // nobody's turn until all wait
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := s.together(t.Context(), func(t tx) {
				if i%7 == 3 {
					t.fail(bad)
				}
				t.exec(`INSERT INTO counter (name, n) VALUES (?, 1)`, fmt.Sprint("test", i))
			})
			if failed := i%7 == 3; failed != errors.Is(err, bad) || !failed && err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.together(gone, func(tx) { t.Error("it was run") }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	<-s.writing
	all.Wait()
	n := 0
	if err := s.read(t.Context(), func(t tx) {
		t.get(`SELECT count(*) FROM counter WHERE name LIKE 'test%'`, nil, &n)
	}); err != nil || n != 17 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestOnlyWhatADatabaseLacksIsDamageAmongOtherErrors(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "memoir.db"), Options{})
	for statement, damaged := range map[string]bool{
		`SELECT 1 FROM missing`:                                  true,
		`INSERT INTO withdrawal (project_id) VALUES ('nowhere')`: false, // breaks a rule of the schema
	} {
		err := s.explain(s.quickly(t.Context(), func(t tx) { t.exec(statement) }), "trying")
		if err == nil || (memoir.CodeOf(err) == memoir.CodeCorrupt) != damaged {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
