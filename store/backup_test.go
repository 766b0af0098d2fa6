package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
)

func newDatabase(t *testing.T) (path string, s *Store) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "memoir.db")
	return path, openAt(t, path, Options{})
}

// scribble overwrites pages of a database that holds something.
func scribble(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", 3*4096)), 100)
	must(t, err)
	must(t, f.Close())
}

func TestADamagedDatabaseIsReplacedByItsBackup(t *testing.T) {
	t.Parallel()
	path, s := newDatabase(t)
	must(t, s.quickly(t.Context(), func(t tx) { t.exec(`INSERT INTO counter (name, n) VALUES ('kept', 7)`) }))
	must(t, s.Backup(t.Context(), false))
	made, err := os.Stat(path + backupSuffix)
	must(t, err)
	must(t, s.Backup(t.Context(), false))
	if again, err := os.Stat(path + backupSuffix); err != nil || !again.ModTime().Equal(made.ModTime()) {
		t.Errorf("a backup of today was made again: %v", err)
	}
	must(t, os.Chtimes(path+backupSuffix, time.Time{}, time.Now().Add(-25*time.Hour)))
	must(t, s.Backup(t.Context(), false))
	if again, err := os.Stat(path + backupSuffix); err != nil || time.Since(again.ModTime()) > time.Hour {
		t.Errorf("a backup of yesterday was kept: %v", err)
	}
	must(t, s.Close())
	scribble(t, path)

	if _, err := Open(t.Context(), path, Options{}); memoir.CodeOf(err) != memoir.CodeCorrupt {
		t.Fatalf("opened a damaged database: %v", err)
	}
	var aside string
	s, err = Open(t.Context(), path, Options{Restored: func(to string) { aside = to }})
	must(t, err)
	defer s.Close()
	n := 0
	must(t, s.read(t.Context(), func(t tx) { t.get(`SELECT n FROM counter WHERE name = 'kept'`, nil, &n) }))
	if n != 7 {
		t.Errorf("the backup's row is gone: %d", n)
	}
	if content, err := os.ReadFile(aside); err != nil || !strings.Contains(string(content), "\xff\xff\xff") {
		t.Errorf("the damaged database is not kept in %q: %v", aside, err)
	}
	if _, err := os.Stat(path + damagedSuffix); !os.IsNotExist(err) {
		t.Errorf("the mark is left: %v", err)
	}
}

// A process that dies between the two must leave no backup that holds what was purged.
func TestABackupIsPurgedBeforeTheNextIsMade(t *testing.T) {
	t.Parallel()
	path, s := newDatabase(t)
	must(t, errors.Join(s.Backup(t.Context(), true), s.BeginPurge(t.Context())))
	removed, err := s.Purge(t.Context())
	must(t, err)
	if _, err := os.Stat(path + backupSuffix); !os.IsNotExist(err) || len(removed) > 0 {
		t.Errorf("the backup is left: %v, removed %v", err, removed)
	}
}

func TestADamagedDatabaseWithoutASoundBackupStays(t *testing.T) {
	t.Parallel()
	for _, backup := range []bool{false, true} { // none, or one that is damaged as well
		path, s := newDatabase(t)
		if backup {
			must(t, s.Backup(t.Context(), true))
			scribble(t, path+backupSuffix)
		}
		must(t, s.Close())
		scribble(t, path)
		before, err := os.ReadFile(path)
		must(t, err)
		for range 2 {
			_, err = Open(t.Context(), path, Options{})
			if memoir.CodeOf(err) != memoir.CodeCorrupt || memoir.HintOf(err) == "" {
				t.Errorf("%v, hint %q", err, memoir.HintOf(err))
			}
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("it was changed: %v", err)
		}
		must(t, os.Remove(path)) // as the hint says
		openAt(t, path, Options{})
	}
}

func TestTheBackupTakesThePlaceOfADatabaseThatIsGoneOrEmptyAndOfNoOther(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil    func(path string, log []byte) error
		replaced int
	}{
		"gone":  {func(path string, _ []byte) error { return os.Remove(path) }, 1},
		"empty": {func(path string, _ []byte) error { return os.Truncate(path, 0) }, 1},
		// SQLite would replay the log into the backup.
		"empty, and its log is left": {func(path string, log []byte) error {
			return errors.Join(os.Truncate(path, 0), os.WriteFile(path+"-wal", log, 0o600))
		}, 1},
		"gone, and its log is left": {func(path string, log []byte) error {
			return errors.Join(os.Remove(path), os.WriteFile(path+"-wal", log, 0o600))
		}, 1},
		"sound, and marked as damaged": {func(path string, _ []byte) error { markDamaged(path); return nil }, 0},
	} {
		path, s := newDatabase(t)
		err := s.BeginForgetting(t.Context(), Forgetting{Keys: []string{"codex:a"}})
		must(t, errors.Join(err, s.Backup(t.Context(), true)))
		register(t, s, project) // only the log has it
		log, err := os.ReadFile(path + "-wal")
		must(t, errors.Join(err, s.Close(), test.spoil(path, log)))
		if test.replaced > 0 {
			if _, err := Open(t.Context(), path, Options{ReadOnly: true}); !errors.Is(err, ErrGone) || memoir.HintOf(err) == "" {
				t.Errorf("%s: opened to read: %v", name, err)
			}
		}
		told := 0
		restored := openAt(t, path, Options{Restored: func(aside string) {
			if told++; aside != "" {
				t.Errorf("%s: moved to %s", name, aside)
			}
		}})
		projects, err := restored.Projects(t.Context())
		if must(t, err); len(projects) != 1-test.replaced {
			t.Errorf("%s: %d projects of after the backup", name, len(projects))
		}
		forgotten, err := restored.Forgotten(t.Context())
		if must(t, err); told != test.replaced || !forgotten["codex:a"] {
			t.Errorf("%s: told %d times; forgotten %v", name, told, forgotten)
		}
		if _, err := os.Stat(path + damagedSuffix); !os.IsNotExist(err) {
			t.Errorf("%s: the mark is left: %v", name, err)
		}
		// The database may be lost again before the next run.
		must(t, errors.Join(restored.Close(), os.Remove(path)))
		again := openAt(t, path, Options{})
		if forgotten, err = again.Forgotten(t.Context()); err != nil || !forgotten["codex:a"] {
			t.Errorf("%s: lost again: %v, %v", name, forgotten, err)
		}
	}
}

// A process that uses the damaged file would go on with it while others use the backup.
func TestADamagedDatabaseThatAnotherProcessUsesIsNotReplaced(t *testing.T) {
	t.Parallel()
	path, s := newDatabase(t)
	must(t, errors.Join(s.Backup(t.Context(), true), s.Close()))
	holder := play(t, "hold", path)
	holder.line(t)
	must(t, os.Remove(path+"-shm"))
	scribble(t, path)
	markDamaged(path)
	if _, err := Open(t.Context(), path, Options{}); memoir.CodeOf(err) != memoir.CodeBusy {
		t.Errorf("%v", err)
	}
	holder.rest(t)
	openAt(t, path, Options{})
}
