package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/testdata"
)

// twoProjects returns a home with the memories of the fixture projects, of which
// papertrail's was edited by hand, and the sessions they are from.
func twoProjects(t *testing.T) (home, sessions string, from, into memoir.Project) {
	t.Helper()
	sessions, _ = fixtures(t)
	home = t.TempDir()
	report := run(t, options(home, sessions))
	for _, p := range report.Phase2 {
		if p.Name == testdata.Papertrail {
			appendLine(t, filepath.Join(p.Root, "MEMORY.md"), "\n## Ours\n\n- ask Ada before a release")
			if err := os.WriteFile(filepath.Join(p.Root, "page.md"), []byte("a page of mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return home, sessions, find(t, home, testdata.Papertrail), find(t, home, testdata.Lanternd)
}

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

func TestAForgottenProjectWhoseFolderWasLeftLeavesNothing(t *testing.T) {
	t.Parallel()
	home, sessions, from, _ := twoProjects(t)
	st := open(t, home)
	if _, err := st.ForgetProject(t.Context(), from.ID); err != nil {
		t.Fatal(err)
	}
	st.Close() // and here it died
	if _, err := os.Stat(memory.At(home, from.ID).Link()); err != nil {
		t.Fatal(err)
	}
	report := run(t, options(home, sessions))
	if report.Phase1.Claimed != 0 || len(report.Phase2) != 0 {
		t.Errorf("%+v", report)
	}
	for path := range tree(t, home) {
		if strings.Contains(path, from.ID) || strings.Contains(path, ".gone-") {
			t.Errorf("%s is left", path)
		}
	}
	// A new session begins anew, with the first generation.
	codexSession(t, sessions, "new-1", "/home/mira/src/papertrail", "main", "Never use npm, always use pnpm.")
	report = run(t, options(home, sessions))
	text := memoryOf(t, report, testdata.Papertrail, "MEMORY.md")
	if report.Phase2[0].Generation != 1 || report.Phase2[0].Inputs != 1 || !strings.Contains(text, "pnpm") || strings.Contains(text, "ask Ada") {
		t.Errorf("%+v\n%s", report.Phase2, text)
	}
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
