package main

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// logOf makes a database and returns the log that its process left.
func logOf(t *testing.T, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range append(statements, "PRAGMA journal_mode = WAL", `CREATE TABLE t (a)`,
		`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 500) INSERT INTO t SELECT hex(randomblob(200)) FROM n`) {
		_, err := db.Exec(statement)
		must(t, err)
	}
	b, err := os.ReadFile(path + "-wal")
	must(t, err)
	return b
}

// logOfHome is the log of another home, whose first run was killed when it had made the
// database.
func logOfHome(t *testing.T, sessions string) []byte {
	t.Helper()
	s := killedLast(t, &stand{t: t, sessions: sessions, home: filepath.Join(inMemory(t), "home")}, " committed store.Open")
	return s.log()
}

// logOfLater is the log of the same home after more runs.
func logOfLater(t *testing.T, r *stand) []byte {
	t.Helper()
	s := &stand{t: t, sessions: r.sessions, home: filepath.Join(inMemory(t), "home")}
	must(t, os.CopyFS(s.home, os.DirFS(r.home)))
	s.must("run", "-q", "--limit", "4")
	return killedLast(t, s, " committed ").log()
}

func (s *stand) log() []byte {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.home, databaseName+"-wal"))
	must(s.t, err)
	return b
}

// killedLast makes a run in a home that is killed at the last moment of a name.
func killedLast(t *testing.T, s *stand, name string) *stand {
	t.Helper()
	dir := inMemory(t)
	twin := &stand{t: t, sessions: s.sessions, home: filepath.Join(dir, "twin")}
	if _, err := os.Stat(s.home); err == nil {
		must(t, os.CopyFS(twin.home, os.DirFS(s.home)))
	}
	points := filepath.Join(dir, "points")
	alone := []string{"MEMOIR_MEMORIES_CONCURRENCY=1"}
	if code, out := twin.do(append(alone, "FAILPOINT=log "+points), "run", "-q"); code != exitDone {
		t.Fatalf("exit code %d: %s", code, out)
	}
	b, err := os.ReadFile(points)
	must(t, err)
	last := 0
	for i, point := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.Contains(point, name) {
			last = i + 1
		}
	}
	if code, out := s.do(append(alone, fmt.Sprintf("FAILPOINT=kill %d", last)), "run", "-q"); code == exitDone {
		t.Fatalf("not killed at moment %d: %s", last, out)
	}
	return s
}

// SQLite takes the pages of any log for the database's, and would overwrite it with them.
func TestTheLogOfAnotherDatabaseIsMovedAsideAndTheDatabaseStays(t *testing.T) {
	t.Parallel()
	r := newStand(t)
	withFailpoints(t)
	later := logOfLater(t, r)
	database, err := os.ReadFile(filepath.Join(r.home, databaseName))
	must(t, err)
	rows, live := rowsOf(t, r.home), lastOf(t, r.home)
	for name, log := range map[string][]byte{
		"another program's":       logOf(t),
		"of pages of other sizes": logOf(t, "PRAGMA page_size = 8192"),
		"another home's":          logOfHome(t, r.sessions),
		"from after a copy":       later,
	} {
		s := &stand{t: t, sessions: r.sessions, home: filepath.Join(inMemory(t), "home")}
		must(t, os.CopyFS(s.home, os.DirFS(r.home)))
		path := filepath.Join(s.home, databaseName)
		must(t, os.WriteFile(path+"-wal", log, 0o600))
		for _, args := range [][]string{{"status"}, {"sessions"}, {"doctor"}} {
			if out := s.must(args...); !strings.Contains(out, "-wal is the log of another database") {
				t.Errorf("%s: %v: %s", name, args, out)
			}
		}
		if out := s.must("doctor", "--repair", "--yes"); !strings.Contains(out, "nothing to repair") {
			t.Errorf("%s: repair: %s", name, out)
		}
		b, err := os.ReadFile(path)
		must(t, err)
		left, err := os.ReadFile(path + "-wal")
		must(t, err)
		if !bytes.Equal(b, database) || !bytes.Equal(left, log) {
			t.Errorf("%s: what only reads changed the database or the log", name)
		}
		if out := s.must("enqueue", "--all"); !strings.Contains(out, "moved aside") {
			t.Errorf("%s: enqueue: %s", name, out)
		}
		kept, err := filepath.Glob(path + "-wal.foreign-*")
		must(t, err)
		if len(kept) != 1 {
			t.Fatalf("%s: kept %v", name, kept)
		}
		if left, err = os.ReadFile(kept[0]); err != nil || !bytes.Equal(left, log) {
			t.Errorf("%s: the log is not what it was: %v", name, err)
		}
		if diff := cmp.Diff(rows["extraction"], rowsOf(t, s.home)["extraction"]); diff != "" {
			t.Errorf("%s: the rows differ:\n%s", name, diff)
		}
		if diff := cmp.Diff(live, lastOf(t, s.home)); diff != "" {
			t.Errorf("%s: the memory differs:\n%s", name, diff)
		}
		if out := s.must("doctor"); strings.Contains(out, "fail  ") {
			t.Errorf("%s: doctor: %s", name, out)
		}
	}
}

// A log that lost its end leaves a database from before the memory: the next run takes
// over what only the live files tell.
func TestALogThatLostItsEndCostsNoMemory(t *testing.T) {
	t.Parallel()
	r := newStand(t)
	withFailpoints(t)
	editByHand(t, r.home)
	whole := &stand{t: t, sessions: r.sessions, home: filepath.Join(inMemory(t), "home")}
	must(t, os.CopyFS(whole.home, os.DirFS(r.home)))
	whole.must("run", "-q")
	live, rows := lastOf(t, whole.home), rowsOf(t, whole.home)
	log := killedLast(t, r, " committed ").log()
	const header, frame = 32, 24 + pageBytes
	ends := []int{0}
	for at := header; at+frame <= len(log); at += frame {
		if binary.BigEndian.Uint32(log[at+4:]) != 0 {
			ends = append(ends, at+frame)
		}
	}
	for _, i := range chosenOf(t, "ends", len(ends), by(t, 4, 24, every)) {
		what := fmt.Sprintf("after transaction %d of %d", i, len(ends)-1)
		s := &stand{t: t, sessions: r.sessions, home: filepath.Join(inMemory(t), "home")}
		must(t, os.CopyFS(s.home, os.DirFS(r.home)))
		wal := filepath.Join(s.home, databaseName+"-wal")
		must(t, os.WriteFile(wal, slices.Concat(log[:ends[i]], log[ends[i]:min(len(log), ends[i]+100)]), 0o600))
		long := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(wal, long, long))
		out := s.must("doctor")
		behind := strings.Contains(out, " is recorded") && strings.Contains(out, " is live, ")
		// Of sessions that are too old to be read again the memory stays as well.
		if code, out := s.do(nil, "run", "--max-age", "1h"); code != exitDone || behind && i == 0 && !strings.Contains(out, "taken over from its files") {
			t.Errorf("%s: exit code %d: %s", what, code, out)
		}
		s.must("run", "-q")
		if diff := cmp.Diff(live, lastOf(t, s.home)); diff != "" {
			t.Errorf("%s: the memory differs:\n%s", what, diff)
		}
		if diff := cmp.Diff(len(rows["extraction"]), len(rowsOf(t, s.home)["extraction"])); diff != "" {
			t.Errorf("%s: extractions:\n%s", what, diff)
		}
		if out := s.must("doctor"); strings.Contains(out, "fail  ") || strings.Contains(out, "is live, ") {
			t.Errorf("%s: doctor: %s", what, out)
		}
		if i == 0 && !behind {
			t.Errorf("%s: doctor does not say that the database is behind: %s", what, out)
		}
	}
}
