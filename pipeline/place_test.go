package pipeline_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/config"
)

const (
	appURL   = "https://example.com/team/app.git"
	appID    = "example.com/team/app"
	otherURL = "git@example.com:team/other.git"
	otherID  = "example.com/team/other"
)

// worked is a session: where it began, and the remote that it recorded, if its
// agent records any.
type worked struct{ cwd, remote string }

func TestWhichProjectSessionsAreRegisteredWith(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		make     func(g ground)
		sessions []worked
		want     []string // identities
	}{
		{"worktrees", func(g ground) {
			g.repo("src/app", appURL)
			g.git("src/app", "worktree", "add", "-q", "../wt")
		}, []worked{{"src/app", ""}, {"src/wt", ""}, {"src/gone/app", appURL}, {"src/gone/app/cmd", ""}, {"src/app/.claude/worktrees/x", ""}},
			[]string{appID, appID, appID, appID, appID}},
		{"a bare repository with worktrees", func(g ground) {
			g.repo("seed", "")
			g.git(".", "clone", "-q", "--bare", "seed", "app/.bare")
			g.git("app/.bare", "remote", "remove", "origin")
			g.git("app/.bare", "worktree", "add", "-q", "../main")
		}, []worked{{"app/main", ""}, {"app/.bare", ""}}, []string{"app/.bare", "app/.bare"}},
		{"a submodule and a nested repository", func(g ground) {
			g.repo("lib", "")
			g.repo("app", appURL)
			g.git("app", "submodule", "add", "-q", g.path("lib"), "lib")
			g.git("app/lib", "remote", "set-url", "origin", otherURL)
			g.repo("app/inner", "")
		}, []worked{{"app", ""}, {"app/lib", ""}, {"app/inner", ""}}, []string{appID, otherID, "app/inner"}},
		{"two clones of one remote", func(g ground) { g.repo("one", appURL); g.repo("two", "ssh://git@example.com/team/app") },
			[]worked{{"one", ""}, {"two", ""}}, []string{appID, appID}},
		{"a clone of a clone", func(g ground) { g.repo("one", appURL); g.git(".", "clone", "-q", g.path("one"), "two") },
			[]worked{{"two", ""}}, []string{appID}},
		{"no git at all", func(g ground) { g.dir("notes/deep") }, []worked{{"notes", ""}, {"notes/deep", ""}, {"gone", ""}},
			[]string{"notes", "notes/deep", "gone"}},
		{"places that are no project", func(g ground) { g.dir("x") },
			[]worked{{".", ""}, {".", appURL}, {"/", ""}, {"/tmp", ""}, {"/tmp/none-of-ours", ""}, {"/var/folders/ab/cd/T/x", ""}},
			[]string{"", "", "", "", "", ""}},
		{"spellings of a path of Windows", func(ground) {},
			[]worked{{`C:\Users\Bob\App`, ""}, {`c:\users\BOB\app`, ""}, {`C:\Users\Bob\App`, appURL}, {`C:\Users\Bob`, ""}},
			[]string{appID, appID, appID, ""}},
		{"spellings of a path of macOS", func(ground) {},
			[]worked{{"/Users/nobody-here/Src/App", ""}, {"/Users/nobody-here/src/app", ""}},
			[]string{"/users/nobody-here/src/app", "/users/nobody-here/src/app"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			test.make(g)
			for i, w := range test.sessions {
				g.codex("s"+string(rune('0'+i)), w.cwd, w.remote, "Always write the header of a fixture.")
			}
			o := g.options()
			o.DryRun = true
			run(t, o)
			var got []string
			for i := range test.sessions {
				got = append(got, g.projectOf("s"+string(rune('0'+i))))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("projects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAProjectIsNamedAsItsPathIsSpelled(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.claude("a", "/Users/nobody-here/Src/MyApp", "Never use npm, always use pnpm.")
	g.claude("b", "/Users/nobody-here/src/myapp", "Always write the header of a fixture.")
	g.run()
	g.claude("c", "/Users/nobody-here/SRC/MYAPP", "Never print the ledger.")
	g.run()
	if rows := g.projects(); len(rows) != 1 || rows[0].Name != "MyApp" || !strings.HasPrefix(rows[0].ID, "myapp-") {
		t.Fatalf("%+v", rows)
	}
	for _, ref := range []string{"MyApp", "myapp", "/Users/nobody-here/Src/MyApp/cmd"} {
		g.wantMemory(ref, "pnpm", "header of a fixture", "print the ledger")
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

func TestARepositoryThatMovedKeepsItsMemory(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("src/app", appURL)
	g.claude("one", "src/app", "Never use npm, always use pnpm.")
	g.run()
	if err := os.Rename(g.path("src/app"), g.path("src/shop")); err != nil {
		t.Fatal(err)
	}
	g.claude("two", "src/shop", "Always write the header of a fixture.")
	g.claude("three", "src/app/cmd", "Never print the ledger.") // written before it moved, seen only now
	g.run()
	rows := g.projects()
	if len(rows) != 1 || len(rows[0].Directories) != 2 || !slices.Contains(rows[0].Aliases, g.path("src/app")) {
		t.Fatalf("%+v", rows)
	}
	for _, ref := range []string{g.path("src/app"), g.path("src/shop"), "app"} {
		g.wantMemory(ref, "pnpm", "header of a fixture", "print the ledger")
	}
}

func TestSessionsFollowADirectoryToTheProjectOfItsNewRemote(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("src/local", "")
	g.repo("src/clone", appURL)
	g.claude("one", "src/local", "Never use npm, always use pnpm.")
	g.claude("two", "src/clone", "Always write the header of a fixture.")
	g.run()
	local := g.projectOf("one")
	g.git("src/local", "remote", "add", "origin", appURL)
	g.claude("three", "src/local", "Never print the ledger.")
	g.run()
	if a, b, c := g.projectOf("one"), g.projectOf("two"), g.projectOf("three"); a != local || b != appID || c != appID {
		t.Errorf("%s, %s, %s", a, b, c)
	}
	g.wantMemory(appID, "header of a fixture", "print the ledger")
	g.wantMemory("local", "pnpm")
}

func TestADirectoryThatHeldTwoRemotesMergesNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("src/app", appURL)
	g.claude("one", "src/app", "Never use npm, always use pnpm.")
	g.run()
	g.git("src/app", "remote", "set-url", "origin", otherURL)
	g.claude("two", "src/app", "Always write the header of a fixture.")
	g.run()
	g.git("src/app", "remote", "remove", "origin")
	g.claude("three", "src/app", "Never print the ledger.")
	g.run()
	if a, b, c := g.projectOf("one"), g.projectOf("two"), g.projectOf("three"); a != appID || b != otherID || c != otherID {
		t.Errorf("%s, %s, %s", a, b, c)
	}
	if text := g.memory(appID, "MEMORY.md"); strings.Contains(text, "header of a fixture") {
		t.Errorf("mixed:\n%s", text)
	}
}

func TestThePersonsOwnNameOfAProjectWins(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, dir := range []string{"mine", "trusted", "untrusted"} {
		g.repo(dir, "https://example.com/team/"+dir)
		g.claude(dir, dir, "Always write the header of a fixture.")
	}
	for _, dir := range []string{"trusted", "untrusted"} {
		g.write(dir+"/"+config.ProjectFileName, "project: Shop\n")
	}
	if err := config.Trust(g.home, g.path("trusted/"+config.ProjectFileName)); err != nil {
		t.Fatal(err)
	}
	o := g.options()
	o.Settings = load(t, "projects:\n  "+g.path("mine")+": Shop\n")
	report := run(t, o)
	for dir, want := range map[string]string{"mine": "project:Shop", "trusted": "project:Shop", "untrusted": "example.com/team/untrusted"} {
		if got := g.projectOf(dir); got != want {
			t.Errorf("%s is in %s, want %s", dir, got, want)
		}
	}
	said := false
	for _, w := range report.Warnings {
		said = said || strings.Contains(w.Message, "project has no effect") && strings.Contains(w.Message, "/untrusted/")
	}
	if !said || len(g.projects()) != 2 {
		t.Errorf("%+v, %d projects", report.Warnings, len(g.projects()))
	}
	// Trust is in the file as it was read.
	g.write("trusted/"+config.ProjectFileName, "project: Others\n")
	g.claude("later", "trusted", "Never print the ledger.")
	run(t, o)
	if got := g.projectOf("later"); got != "example.com/team/trusted" {
		t.Errorf("with a changed file it is in %s", got)
	}
}
