package store

import (
	"testing"

	"memoir"
)

// rows counts what every table holds.
func rows(t testing.TB, s *Store) map[string]int {
	t.Helper()
	n := map[string]int{}
	must(t, s.read(background(), func(tx tx) error {
		tables, err := tx.texts(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
		for _, table := range tables {
			var rows int
			if err := tx.get(`SELECT count(*) FROM `+table, nil, &rows); err != nil {
				return err
			}
			n[table] = rows
		}
		return err
	}))
	return n
}

// newFull returns a store with two projects that have something of everything.
func newFull(t testing.TB) (*Store, *fakeClock) {
	t.Helper()
	s, clock := newQueue(t, 3)
	register(t, s, other)
	scan(t, s, session("x", ended(1), theirs))
	for _, id := range []string{other, project} {
		r := worth(id)
		r.Redactions = map[string]int{"aws": 1}
		extracted(t, s, r)
		must(t, s.RecordNotes(t.Context(), id, 1, []memoir.Note{{ProjectID: id, File: "MEMORY.md", Action: memoir.NoteAdded, Text: "x"}}))
		must(t, s.UpsertProject(t.Context(), memoir.Project{ID: id, Name: id, Aliases: []string{"alias"}}))
		publish(t, s, claimAs(t, s, id, forMinutes), GenerationRecord{N: 1, Redactions: map[string]int{"jwt": 1}})
	}
	forget(t, s, "codex:s01")
	must(t, s.SetDisabled(t.Context(), "codex:s02", true))
	return s, clock
}

func TestClearingAProjectRemovesExactlyItsRows(t *testing.T) {
	t.Parallel()
	s, _ := newFull(t)
	// A claim that is under way loses.
	scan(t, s, session("s00", grown))
	running := claimOne(t, s)
	before := rows(t, s)
	must(t, s.Clear(t.Context(), project))
	must(t, s.Clear(t.Context(), project))
	wantCode(t, s.StoreExtraction(t.Context(), running, worth("late")), memoir.CodeLeaseLost)
	after := rows(t, s)
	left := map[string]int{
		"project": 1, "session": 1, "file": 1, "job": 2, "extraction": 1, "generation": 1, "note": 1, "redaction": 2, "project_directory": 1,
		"removed_folder": 1, // the folder is yet to be removed
	}
	for table, n := range before {
		want, listed := left[table]
		switch {
		case table == "project_alias":
			want = n / 2
		case !listed: // mark, ledger, counter
			want = n
		}
		if after[table] != want {
			t.Errorf("%s: %d rows of %d left, want %d", table, after[table], n, want)
		}
	}
	if row := projectRow(t, s, other); row.Generation != 1 || row.Extractions != 1 || row.Sessions != 1 {
		t.Errorf("the other project: %+v", row)
	}

	// What was forgotten or disabled stays so when everything is found again.
	register(t, s, project)
	scan(t, s, session("s00"), session("s01"), session("s02"))
	wantIDs(t, claim(t, s, claimOptions(9)), "s00")
	if a, b := reasonOf(t, s, "s01"), reasonOf(t, s, "s02"); a != memoir.ReasonForgotten || b != memoir.ReasonDisabled {
		t.Errorf("found again they are %s and %s", a, b)
	}
}

func TestClearingAllLeavesMarksAndLedger(t *testing.T) {
	t.Parallel()
	s, _ := newFull(t)
	before := rows(t, s)
	must(t, s.ClearAll(t.Context()))
	for table, n := range rows(t, s) {
		want := 0
		switch table {
		case "mark", "ledger", "counter", "forgotten_key", "forgotten_beginning", "forgotten_line":
			want = before[table]
		case "removed_folder": // the folders are yet to be removed
			want = before["project"]
		}
		if n != want {
			t.Errorf("%s: %d rows left, want %d", table, n, want)
		}
	}
}
