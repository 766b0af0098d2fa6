package pipeline_test

import (
	"fmt"
	"testing"
)

const (
	appURL = "https://example.com/team/app.git"
	appID  = "example.com/team/app"
)

func TestWhichProjectSessionsAreRegisteredWith(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("src/app", appURL)
	g.git("src/app", "worktree", "add", "-q", "../wt")
	g.repo("clone", "ssh://git@example.com/team/app")
	g.repo("src/app/inner", "")
	g.dir("notes")
	o := g.options()
	o.DryRun = true
	for i, test := range []struct{ cwd, remote, want string }{
		{"src/app", "", appID}, {"src/wt", "", appID}, {"clone", "", appID}, {"gone/app", appURL, appID}, {"gone/app/cmd", "", appID},
		{"src/app/inner", "", "src/app/inner"}, {"notes", "", "notes"}, {"gone/else", "", "gone/else"},
		{".", appURL, ""}, {"/", "", ""}, {"/tmp/none-of-ours", "", ""},
	} {
		id := fmt.Sprintf("s%02d", i)
		g.codex(id, test.cwd, test.remote, "Always write the header of a fixture.")
		run(t, o)
		if got := g.projectOf(id); got != test.want {
			t.Errorf("%s, with the remote %q: %q, want %q", test.cwd, test.remote, got, test.want)
		}
	}
}

func TestADirectoryThatGainsARemoteKeepsItsMemory(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.dir("src/app")
	g.claude("one", "src/app", "Never use npm, always use pnpm.")
	g.run()
	first := g.projects()[0]

	g.git("src/app", "init", "-q")
	g.claude("two", "src/app", "Always write the header of a fixture.")
	g.run()
	g.git("src/app", "remote", "add", "origin", appURL)
	g.claude("three", "src/app", "Never print the ledger.")
	// Another clone is the same project, and so is a directory that is gone.
	g.repo("elsewhere/app", appURL)
	g.claude("four", "elsewhere/app", "Always sign the tag of a release.")
	g.codex("five", "gone", appURL, "Never rebase a published branch.")
	g.run()
	rows := g.projects()
	if len(rows) != 1 || rows[0].ID != first.ID || rows[0].Identity != appID || rows[0].Remote != appID || rows[0].Extractions != 5 {
		t.Fatalf("first %+v\nnow %+v", first, rows)
	}
	for _, ref := range []string{first.ID, "app", appID, g.path("src/app"), g.path("elsewhere/app")} {
		g.wantMemory(ref, "pnpm", "header of a fixture", "print the ledger", "tag of a release", "published branch")
	}
	if report := g.run(); len(report.Phase2) != 0 || len(g.projects()) != 1 {
		t.Errorf("again: %+v", report.Phase2)
	}
}

func TestThePersonsOwnNameOfAProjectWins(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, dir := range []string{"mine", "other"} {
		g.repo(dir, "https://example.com/team/"+dir)
		g.claude(dir, dir, "Always write the header of a fixture.")
	}
	o := g.options()
	o.Settings = load(t, "projects:\n  "+g.path("mine")+": Shop\n")
	run(t, o)
	for dir, want := range map[string]string{"mine": "project:Shop", "other": "example.com/team/other"} {
		if got := g.projectOf(dir); got != want {
			t.Errorf("%s is in %s, want %s", dir, got, want)
		}
	}
}
