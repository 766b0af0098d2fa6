package pipeline_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver

	"memoir"
	"memoir/lease"
	"memoir/store"
)

// copyDatabase writes what a database holds now, and none of its free pages, to a file.
func copyDatabase(t *testing.T, from, to string) error {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(from)+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "VACUUM INTO ?", to)
	return err
}

// held has another holder take a project, until release is called.
func held(t *testing.T, home, project string) (release func()) {
	t.Helper()
	st := open(t, home)
	claim, ok, err := st.ClaimProject(t.Context(), project, store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Hour, Always: true})
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	return func() {
		if err := st.GiveBack(t.Context(), claim); err != nil {
			t.Error(err)
		}
		st.Close()
	}
}

// openImpatient opens a home's database without much patience for others.
func openImpatient(t *testing.T, home string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{BusyTimeout: 300 * time.Millisecond})
	must(t, err)
	return st
}

func wantBusy(t *testing.T, err error) {
	t.Helper()
	if memoir.CodeOf(err) != memoir.CodeBusy {
		t.Fatalf("the error is %v", err)
	}
}
