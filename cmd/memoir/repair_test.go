package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir/testdata"
)

const pageBytes = 4096

// A ruin is a home with several generations, edits by hand, a session that was
// forgotten, one that was disabled, and calls of a model, to be damaged.
type ruin struct {
	*stand
	database            []byte
	live                map[string]string
	rows                map[string][]string
	forgotten, disabled string
}

// editByHand writes a rule into each live memory of a home.
func editByHand(t *testing.T, home string) {
	t.Helper()
	memories, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "MEMORY.md"))
	must(t, err)
	for _, path := range memories {
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append(b, "\n## House rules\n\n- never on a Friday\n"...), 0o600))
	}
}

func newRuin(t *testing.T) *ruin {
	t.Helper()
	r := &ruin{stand: newStand(t)}
	editByHand(t, r.home)
	r.must("run", "-q")
	st := openStore(t, r.home)
	projects, err := st.Projects(t.Context())
	must(t, err)
	extractions, err := st.Extractions(t.Context(), projects[0].ID)
	must(t, err)
	must(t, st.Close())
	r.forgotten, r.disabled = extractions[0].SessionKey, extractions[1].SessionKey
	r.must("forget", "session", r.forgotten, "--yes", "-q")
	r.must("sessions", "disable", r.disabled, "-q")
	db, err := sql.Open("sqlite3", filepath.Join(r.home, databaseName))
	must(t, err)
	_, err = db.Exec(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
		INSERT INTO ledger (at, run, phase, session_key, project_id, model, calls, input_tokens, cached_tokens, output_tokens, cost, duration_ms, outcome)
		SELECT ?1 + n, 'run' || n, 'extract', ?2, ?3, 'some/model', 1, 1000 + n, 0, 10, 0.001 * n, 5, 'stored' FROM n`,
		testdata.Now.UnixMilli(), extractions[2].SessionKey, projects[0].ID)
	must(t, errors.Join(err, db.Close()))
	r.must("run", "-q")
	r.rows = rowsOf(t, r.home)
	r.database, err = os.ReadFile(filepath.Join(r.home, databaseName))
	must(t, err)
	r.live = lastOf(t, r.home)
	if len(r.live) == 0 || len(r.database)%pageBytes != 0 {
		t.Fatalf("%d files, %d bytes", len(r.live), len(r.database))
	}
	return r
}

func (s *stand) must(args ...string) string {
	s.t.Helper()
	code, out := s.do(nil, args...)
	if code != exitDone {
		s.t.Fatalf("%v: exit code %d:\n%s", args, code, out)
	}
	return out
}

// damaged is a copy of the home with another database.
func (r *ruin) damaged(database []byte) *stand {
	r.t.Helper()
	return r.damagedIn(filepath.Join(inMemory(r.t), "home"), database)
}

func (r *ruin) damagedIn(home string, database []byte) *stand {
	r.t.Helper()
	s := &stand{t: r.t, sessions: r.sessions, home: home}
	must(r.t, os.CopyFS(s.home, os.DirFS(r.home)))
	must(r.t, os.WriteFile(filepath.Join(s.home, databaseName), database, 0o600))
	return s
}

// What a database says of generations is in their archives, too.
func TestARecordOfGenerationsThatIsDamagedIsMadeFromTheirArchives(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	for name, spoil := range map[string]string{
		"inputs that cannot be read": `UPDATE generation SET inputs = substr(inputs, 2)`,
		"another hash":               `UPDATE generation SET manifest_hash = replace(manifest_hash, 'a', 'b')`,
		"other inputs":               `UPDATE generation SET inputs = '{}'`,
		"gone":                       `DELETE FROM generation WHERE n < (SELECT generation FROM project WHERE id = project_id)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stand{t: t, sessions: r.sessions, home: r.damagedIn(filepath.Join(t.TempDir(), "home"), r.database).home}
			db, err := sql.Open("sqlite3", filepath.Join(s.home, databaseName))
			must(t, err)
			_, err = db.Exec(spoil)
			must(t, errors.Join(err, db.Close()))
			if diff := cmp.Diff(r.rows["generation"], rowsOf(t, s.home)["generation"]); diff == "" {
				t.Fatal("nothing was spoilt")
			}
			s.must("doctor", "--repair", "--yes")
			if diff := cmp.Diff(r.rows["generation"], rowsOf(t, s.home)["generation"]); diff != "" {
				t.Error(diff)
			}
			if again := s.must("doctor", "--repair", "--yes"); !strings.Contains(again, "nothing to repair") {
				t.Error(again)
			}
		})
	}
}

func TestARepairKeepsTheOldDatabaseAsItWas(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	database := bytes.Clone(r.database)
	clear(database[4*pageBytes : 5*pageBytes])
	s := r.damaged(database)
	before := lastOf(t, s.home)
	out := s.must("doctor", "--repair", "--dry-run")
	if !strings.Contains(out, "nothing was changed") {
		t.Errorf("dry run: %s", out)
	}
	if code, out := s.do(nil, "doctor", "--repair"); code != exitUsage || !strings.Contains(out, "--yes") {
		t.Errorf("without anybody to ask: exit code %d: %s", code, out)
	}
	b, err := os.ReadFile(filepath.Join(s.home, databaseName))
	must(t, err)
	if !bytes.Equal(b, database) {
		t.Error("the database was changed before anybody said yes")
	}
	code, out := s.do(nil, "doctor", "--repair", "--yes", "--json")
	kept := gjson.Get(out, "kept").String()
	if code != exitDone || !gjson.Get(out, "repaired").Bool() || kept == "" {
		t.Fatalf("exit code %d: %s", code, out)
	}
	b, err = os.ReadFile(kept)
	must(t, err)
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 || !bytes.Equal(b, database) {
		t.Errorf("%s is not what was there: %v", kept, err)
	}
	if diff := cmp.Diff(before, lastOf(t, s.home)); diff != "" {
		t.Errorf("the repair changed the memory:\n%s", diff)
	}
	if left, err := filepath.Glob(filepath.Join(s.home, "*.repair*")); err != nil || len(left) > 0 {
		t.Errorf("the repair left %v, %v", left, err)
	}
	if out := s.must("doctor", "--repair", "--yes"); !strings.Contains(out, "nothing to repair") {
		t.Errorf("a sound database: %s", out)
	}
}

func TestADatabaseThatIsGoneIsMadeAgainFromTheMemory(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	for name, repair := range map[string]func(s *stand){
		"by doctor": func(s *stand) { s.must("doctor", "--repair", "--yes") },
		"by a run":  func(s *stand) {},
	} {
		s := r.damaged(nil)
		must(t, os.Remove(filepath.Join(s.home, databaseName)))
		repair(s)
		// Of sessions that are too old to be read again the memory stays as well.
		code, out := s.do(nil, "run", "--max-age", "1h")
		if code != exitDone {
			t.Errorf("%s: exit code %d:\n%s", name, code, out)
		}
		if diff := cmp.Diff(r.live["MEMORY.md"], lastOf(t, s.home)["MEMORY.md"]); diff != "" {
			t.Errorf("%s: the memory differs:\n%s", name, diff)
		}
		for path, text := range lastOf(t, s.home) {
			if strings.HasSuffix(path, "MEMORY.md") && !strings.Contains(text, "never on a Friday") {
				t.Errorf("%s: %s lost what a person wrote", name, path)
			}
		}
		st := openStore(t, s.home)
		projects, err := st.Projects(t.Context())
		must(t, err)
		for _, p := range projects {
			if p.Generation == 0 || p.Extractions == 0 {
				t.Errorf("%s: %+v", name, p)
			}
		}
		must(t, st.Close())
	}
}

func TestWhatIsNoDatabaseOfThisProgramIsRefusedOrKept(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	newer := bytes.Clone(r.database)
	newer[63] = 99 // user_version
	for name, c := range map[string]struct {
		database []byte
		code     int // of a repair
		says     string
	}{
		"newer":    {newer, exitFailed, "newer memoir"},
		"zeros":    {make([]byte, 2*pageBytes), exitDone, "is repaired"},
		"a text":   {[]byte("# notes\n"), exitDone, "is repaired"},
		"one page": {r.database[:pageBytes], exitDone, "is repaired"},
		"a half":   {r.database[:len(r.database)/2+100], exitDone, "is repaired"},
	} {
		s := r.damaged(c.database)
		if code, out := s.do(nil, "run"); code != exitFailed || !strings.Contains(out, "memoir: hint: ") {
			t.Errorf("%s: run: exit code %d: %s", name, code, out)
		}
		b, err := os.ReadFile(filepath.Join(s.home, databaseName))
		must(t, err)
		if !bytes.Equal(b, c.database) {
			t.Errorf("%s: the file was changed", name)
		}
		code, out := s.do(nil, "doctor", "--repair", "--yes")
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: repair: exit code %d: %s", name, code, out)
		}
		if diff := cmp.Diff(r.live, lastOf(t, s.home)); diff != "" {
			t.Errorf("%s: the memory was changed:\n%s", name, diff)
		}
	}
}

// A repair that is killed at any moment is finished, or begun anew, by the next.
func TestARepairThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	binary := withFailpoints(t)
	database := bytes.Clone(r.database)
	clear(database[4*pageBytes : 5*pageBytes])
	for n := 1; ; n++ {
		s := r.damaged(database)
		cmd := s.command([]string{fmt.Sprintf("FAILPOINT=kill %d", n)}, "doctor", "--repair", "--yes")
		cmd.Path = binary
		if err := cmd.Run(); err == nil {
			t.Logf("%d moments", n-1)
			if n < 5 {
				t.Errorf("killed at %d moments only", n-1)
			}
			return
		}
		kept, err := filepath.Glob(filepath.Join(s.home, databaseName+".damaged-*Z"))
		must(t, err)
		_, err = os.Stat(filepath.Join(s.home, databaseName))
		done := len(kept) == 1 && err == nil // the last rename was the last moment
		if code, out := s.do(nil, "run", "-q"); !done && (code == exitDone || !strings.Contains(out, "doctor --repair")) {
			t.Errorf("moment %d: a run before the repair was done again: exit code %d: %s", n, code, out)
		}
		s.must("doctor", "--repair", "--yes")
		s.must("run", "-q")
		if diff := cmp.Diff(r.live, lastOf(t, s.home)); diff != "" {
			t.Errorf("moment %d: the memory differs:\n%s", n, diff)
		}
		kept, err = filepath.Glob(filepath.Join(s.home, databaseName+".damaged-*Z"))
		must(t, err)
		if len(kept) != 1 {
			t.Errorf("moment %d: kept %v", n, kept)
		}
	}
}

func TestARepairIsRefusedWhileAnotherProcessUsesTheDatabase(t *testing.T) {
	t.Parallel()
	r := newRuin(t)
	database := bytes.Clone(r.database)
	clear(database[len(database)-pageBytes:])
	s := r.damaged(database)
	release := lockedBy(t, s.home, "BEGIN; SELECT count(*) FROM sqlite_schema")
	code, out := s.do(nil, "doctor", "--repair", "--yes")
	release()
	if code != exitBusy || !strings.Contains(out, "in use by another process") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
