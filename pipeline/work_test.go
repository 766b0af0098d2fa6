package pipeline_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/config"
	"memoir/store"
)

// session returns what is registered of a session.
func (g ground) session(id string) memoir.Session {
	g.t.Helper()
	st := open(g.t, g.home)
	defer st.Close()
	sessions, err := st.FindSessions(g.t.Context(), id)
	if err != nil || len(sessions) != 1 {
		g.t.Fatalf("session %s: %v, %v", id, sessions, err)
	}
	return sessions[0]
}

func TestASessionCountsForTheProjectWhereMostOfItsWorkWas(t *testing.T) {
	t.Parallel()
	const secret = "src/secret"
	for _, test := range []struct {
		name, cwd string
		calls     []string
		want      string // identity
		work      string // the directory that made it so
	}{
		{"where it began", "app", []string{"app", "app/cmd", "other"}, appID, ""},
		{"elsewhere", "app", []string{"app", "other", "other"}, otherID, "other"},
		{"directories of a project count together", "app", []string{"app", "app", "app", "other/a", "other/b", "other/b", "other"}, otherID, "other/b"},
		{"at a tie where it began", "app", []string{"other", "other", "app", "app/cmd"}, appID, ""},
		{"at a tie of others, the first", "app", []string{"other", "third", "third", "other"}, otherID, "other"},
		{"what is no project does not count", "app", []string{"app", "/tmp/none-of-ours", "/tmp/none-of-ours", "."}, appID, ""},
		{"no calls at all", "app", nil, appID, ""},
		{"a directory that is gone, below where it began", "app", []string{"app/gone", "app/gone"}, appID, ""},
		{"a plain directory below a plain directory", "notes", []string{"notes/a", "notes/a", "notes"}, "notes", ""},
		{"another plain directory", "notes", []string{"diary", "diary", "notes"}, "diary", "diary"},
		{"begun in the home directory", ".", []string{".", ".", ".", "other"}, otherID, "other"},
		{"begun in a temporary directory", "/tmp/none-of-ours", []string{"app/cmd", "other", "app"}, appID, "app/cmd"},
		{"begun nowhere", "", []string{"app"}, appID, "app"},
		{"never in a project", ".", []string{".", "/tmp/none-of-ours"}, "", ""},
		{"in an excluded directory", "app", []string{secret + "/a", secret + "/b", "app", "other"}, "disabled", secret + "/a"},
		{"a little in an excluded directory", "app", []string{secret, "app", "app"}, appID, ""},
		{"begun in the home directory, then in an excluded one", ".", []string{secret}, "disabled", secret},
		{"in a directory whose file switches memory off", "app", []string{"off", "off", "app"}, "disabled", "off"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.repo("app", appURL)
			g.repo("other", otherURL)
			g.repo("third", "")
			for _, dir := range []string{"app/cmd", "other/a", "other/b", "notes/a", "diary", secret, "off"} {
				g.dir(dir)
			}
			g.write("off/"+config.ProjectFileName, "memories:\n  enabled: false\n")
			g.codex("one", test.cwd, "", "Always write the header of a fixture.", test.calls...)
			o := g.options()
			o.Settings = load(t, "exclude:\n  - "+g.path(secret)+"/**\n  - "+g.path(secret)+"\n")
			report := run(t, o)
			s := g.session("one")
			if s.WorkCWD != g.path(test.work) || s.CWD != strings.TrimSuffix(g.path(test.cwd), "/.") {
				t.Errorf("it began in %q and worked in %q", s.CWD, s.WorkCWD)
			}
			if test.want == "disabled" {
				if s.Reason != memoir.ReasonDisabled || report.Phase1.Stored != 0 {
					t.Errorf("%s, %+v", s.Reason, report.Phase1)
				}
				o.Settings = config.Default()
				if err := os.RemoveAll(g.path("off")); err != nil {
					t.Fatal(err)
				}
				if again := run(t, o); again.Phase1.Stored != 1 {
					t.Errorf("let in again: %+v, %s", again.Phase1, g.session("one").Reason)
				}
				return
			}
			if got := g.projectOf("one"); got != test.want {
				t.Fatalf("it counts for %q, want %q", got, test.want)
			}
			if test.want == "" {
				if s.Reason != memoir.ReasonNoProject {
					t.Errorf("%s", s.Reason)
				}
				return
			}
			g.wantMemory(s.ProjectID, "header of a fixture")
			if again := run(t, o); again.Phase1.Claimed != 0 || len(again.Phase2) != 0 {
				t.Errorf("again: %+v, %+v", again.Phase1, again.Phase2)
			}
		})
	}
}

func TestASessionStaysWhereItsWorkWasUntilThatChanges(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("app", appURL)
	g.repo("other", otherURL)
	g.claude("first", "app", "Never print the ledger.")
	path := g.codex("one", "app", "", "Always write the header of a fixture.", "other", "other", "app")
	g.run()
	if got := g.projectOf("one"); got != otherID {
		t.Fatalf("it counts for %s", got)
	}
	// Touched, it is scanned, and read again without a change.
	later := time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if report := g.run(); report.Phase1.Unchanged != 1 || len(report.Phase2) != 0 || g.projectOf("one") != otherID {
		t.Errorf("touched: %+v, %+v, %s", report.Phase1, report.Phase2, g.projectOf("one"))
	}
	// With a scan alone in between it stays; with most of the work back where it began, it moves back.
	g.codex("one", "app", "", "Always write the header of a fixture.", "other", "other", "app", "app", "app")
	o := g.options()
	o.DryRun = true
	run(t, o)
	if got := g.projectOf("one"); got != otherID {
		t.Errorf("after a scan it counts for %s", got)
	}
	g.run()
	if s := g.session("one"); g.projectOf("one") != appID || s.WorkCWD != "" {
		t.Errorf("%+v", s)
	}
	g.wantMemory(appID, "print the ledger", "header of a fixture")
	// What it gave is no longer where it was.
	if text := g.memory(otherID, "MEMORY.md"); strings.Contains(text, "header of a fixture") {
		t.Errorf("still in the other project:\n%s", text)
	}
}

func TestDirectoriesOfAProjectWithAnEarlierIdentityCountTogether(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.dir("app")
	g.repo("other", otherURL)
	g.claude("first", "app", "Never print the ledger.")
	g.run()
	g.git("app", "init", "-q")
	g.git("app", "remote", "add", "origin", appURL)
	g.codex("wt", "gone/tree", appURL, "Never use npm, always use pnpm.")
	g.run()
	// Two calls in the repository and two in a worktree of it that is gone, against three.
	g.codex("one", "other", "", "Always write the header of a fixture.", "other", "other", "other", "app", "app", "gone/tree", "gone/tree")
	g.run()
	if got := g.projectOf("one"); got != appID || len(g.projects()) != 2 {
		t.Errorf("it counts for %s, of %d projects", got, len(g.projects()))
	}
}

func TestTwoRunsAtOncePlaceSessionsAlike(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("app", appURL)
	g.repo("other", otherURL)
	for i := range 12 {
		g.codex("s"+string(rune('a'+i)), []string{"app", ".", "notes"}[i%3], "", "Always write the header of a fixture.", "other", "other", "app")
	}
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := tryRun(t.Context(), t, g.options())
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	g.run()
	st := open(t, g.home)
	defer st.Close()
	sessions, err := st.Sessions(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if g.projectOf(s.ID) != otherID || s.Reason != memoir.ReasonUpToDate {
			t.Errorf("%s counts for %s: %s", s.ID, g.projectOf(s.ID), s.Reason)
		}
	}
}
