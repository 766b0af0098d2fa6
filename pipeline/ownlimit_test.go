package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/pipeline"
	"memoir/store"
)

// checkout makes a directory the top of a repository.
func checkout(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = false\n"} {
		if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALimitOfAProjectStopsItsWorkAlone(t *testing.T) {
	t.Parallel()
	const input, output = 10, 100 // tokens of each call: 110, and $0.21
	const most = 4
	for _, limit := range []string{"tokensPerRun: 500", "costPerDay: 3"} { // limit_test.go has all of a run
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			home, dir, work := t.TempDir(), t.TempDir(), t.TempDir()
			for _, name := range []string{"thrifty", "free"} {
				repo := filepath.Join(work, name)
				checkout(t, repo)
				for i := range 10 {
					claudeSession(t, dir, name+string(rune('a'+i)), repo, "always write the header of fixture "+string(rune('a'+i)))
				}
			}
			if err := os.WriteFile(filepath.Join(work, "thrifty", config.ProjectFileName), []byte("limits: {"+limit+"}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			dry := options(home, dir)
			dry.DryRun = true
			id := ""
			for _, w := range run(t, dry).Would {
				if w.Action == "consolidate" && strings.HasPrefix(w.Project, "thrifty") {
					id = w.Project
				}
			}
			st := open(t, home)
			for _, project := range []string{id, "other"} { // what other runs spent; that on others does not matter
				err := st.AddLedger(t.Context(), store.LedgerEntry{At: time.Now(), Run: "another", Phase: "extract", ProjectID: project,
					Model: "openai/m", Outcome: "stored", Usage: memoir.Usage{Calls: 1, InputTokens: 1000, Cost: 2}})
				if err != nil {
					t.Fatal(err)
				}
			}
			st.Close()
			o := options(home, dir)
			o.Phases = asks(t, taking(t, input, output), model.Options{Price: price}, output)
			report := run(t, o)
			one := report.Phase1
			if one.Stored < 10 || one.Stored > 10+most || one.Stored == 10 || one.Failed != 0 || report.Left != 20-one.Stored {
				t.Errorf("%+v, %d left", one, report.Left)
			}
			if report.Stopped != nil || len(report.StoppedProjects) != 1 || report.StoppedProjects[0].Project != id || !report.Partly() {
				t.Fatalf("%+v, %+v", report.Stopped, report.StoppedProjects)
			}
			said := report.Warnings[len(report.Warnings)-1]
			if !strings.Contains(said.Message, "for project thrifty") || !strings.Contains(said.Hint, config.ProjectFileName) {
				t.Errorf("%+v", said)
			}
			for _, p := range report.Phase2 {
				want := pipeline.OutcomePublished
				if p.Project == id {
					want = pipeline.OutcomeStopped
				}
				if p.Outcome != want {
					t.Errorf("%+v", p)
				}
			}
			if _, _, status := ledger(t, home); len(status.Failed)+len(status.Dead) > 0 {
				t.Errorf("%+v", status)
			}
			// Without the limit the next run makes up for it.
			if err := os.Remove(filepath.Join(work, "thrifty", config.ProjectFileName)); err != nil {
				t.Fatal(err)
			}
			if next := run(t, o); next.Phase1.Stored != 20-one.Stored || next.Partly() {
				t.Errorf("%+v", next.Phase1)
			}
		})
	}
}

func TestAProjectCannotRaiseALimit(t *testing.T) {
	t.Parallel()
	home, dir, work := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "repo")
	checkout(t, work)
	for _, name := range []string{"a", "b", "c"} {
		claudeSession(t, dir, name, work, "always write the header of fixture "+name)
	}
	path := filepath.Join(work, config.ProjectFileName)
	if err := os.WriteFile(path, []byte("limits: {tokensPerRun: 100000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := config.Trust(home, path); err != nil {
		t.Fatal(err)
	}
	o := options(home, dir)
	o.Phases = asks(t, taking(t, 10, 100), model.Options{}, 100)
	o.Settings.Limits.TokensPerRun = 200
	if report := run(t, o); report.Phase1.Stored > 1 || report.Stopped == nil || len(report.StoppedProjects) != 0 {
		t.Errorf("%+v, %+v, %+v", report.Phase1, report.Stopped, report.StoppedProjects)
	}
}
