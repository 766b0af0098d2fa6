package pipeline_test

import (
	"os"
	"testing"
	"time"

	"memoir"
)

func find(t *testing.T, home, ref string) memoir.Project {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	row, err := st.FindProject(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return row.Project
}

func TestAForgottenProjectDoesNotComeBackWithItsSessions(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.dir("src/app")
	path := g.codex("app", "src/app", "", "Never use npm, always use pnpm.")
	moved := g.codex("moved", "src/app", "", "Never print the ledger.")
	g.run()
	st := open(t, g.home)
	defer st.Close()
	if n, err := st.ForgetProject(t.Context(), find(t, g.home, "app").ID); err != nil || n != 2 {
		t.Fatalf("forgot %d sessions: %v", n, err)
	}
	later := time.Now().Add(time.Hour)
	for _, path := range []string{path, moved} {
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
	}
	report := g.run()
	if rows := g.projects(); len(rows) != 0 || report.Scan.Reasons[memoir.ReasonForgotten] != 2 {
		t.Errorf("projects %+v, reasons %v", rows, report.Scan.Reasons)
	}
	g.codex("new", "src/app", "", "Always write the header of a fixture.")
	g.run()
	if rows := g.projects(); len(rows) != 1 || rows[0].Sessions != 1 {
		t.Errorf("a new session does not begin it anew alone: %+v", rows)
	}
}
