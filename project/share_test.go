package project

import (
	"os"
	"testing"
)

// seen is where a session worked and what it recorded; a CWD with a drive is taken
// as it is, any other is below the ground.
type seen struct{ cwd, remote string }

func TestWhatIsOneProjectAndWhatIsNot(t *testing.T) {
	t.Parallel()
	const app, other = "https://example.com/team/app.git", "https://example.com/team/other.git"
	for _, test := range []struct {
		name string
		make func(g ground)
		seen []seen
		one  bool
	}{
		{"a repository and its worktree", func(g ground) {
			g.repo("app", "")
			g.git("app", "worktree", "add", "-q", "../wt")
		}, []seen{{"app", ""}, {"wt", ""}}, true},
		{"two worktrees of a bare repository", func(g ground) {
			g.repo("seed", "")
			g.git(".", "clone", "-q", "--bare", "seed", "app/.bare")
			g.git("app/.bare", "remote", "remove", "origin")
			g.git("app/.bare", "worktree", "add", "-q", "../one")
			g.git("app/.bare", "worktree", "add", "-q", "../two")
		}, []seen{{"app/one", ""}, {"app/two", ""}, {"app/.bare", ""}}, true},
		{"a worktree that is gone, by the URL that was recorded", func(g ground) { g.repo("app", app) },
			[]seen{{"app", ""}, {"trees/gone", "git@example.com:team/app.git"}}, true},
		{"a worktree that is gone, by its path", func(g ground) { g.repo("app", app) },
			[]seen{{"app", ""}, {"app/.claude/worktrees/blue", ""}, {"app/.worktrees/red/cmd", ""}}, true},
		{"a repository and its submodule", func(g ground) {
			g.repo("lib", "")
			g.repo("app", app)
			g.git("app", "submodule", "add", "-q", g.path("lib"), "lib")
			g.git("app/lib", "remote", "set-url", "origin", other)
		}, []seen{{"app", ""}, {"app/lib", ""}}, false},
		{"a repository and one inside it", func(g ground) { g.repo("app", app); g.repo("app/inner", "") },
			[]seen{{"app", ""}, {"app/inner", ""}}, false},
		{"two clones of one remote, by different protocols", func(g ground) {
			g.repo("one", app)
			g.repo("two", "ssh://git@EXAMPLE.com:2222/team/app")
		}, []seen{{"one", ""}, {"two", ""}}, true},
		{"two repositories of one name", func(g ground) { g.repo("a/app", app); g.repo("b/app", other) },
			[]seen{{"a/app", ""}, {"b/app", ""}}, false},
		{"a fork and what it was forked from", func(g ground) { g.repo("app", app); g.repo("fork", "https://example.com/me/app") },
			[]seen{{"app", ""}, {"fork", ""}}, false},
		{"two repositories without remotes", func(g ground) { g.repo("one", ""); g.repo("two", "") },
			[]seen{{"one", ""}, {"two", ""}}, false},
		{"directories without git", func(g ground) { g.dir("a/b-c"); g.dir("a-b/c") },
			[]seen{{"a/b-c", ""}, {"a-b/c", ""}}, false},
		{"a directory and one below it, without git", func(g ground) { g.dir("notes/deep") },
			[]seen{{"notes", ""}, {"notes/deep", ""}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			test.make(g)
			ids := map[string]bool{}
			for _, s := range test.seen {
				p, status := g.resolver().Identify(g.path(s.cwd), s.remote)
				if !status.OK() {
					t.Errorf("%s: %s", s.cwd, status)
				}
				ids[p.ID] = true
			}
			if want := map[bool]int{true: 1, false: len(test.seen)}[test.one]; len(ids) != want {
				t.Errorf("%d projects, want %d: %v", len(ids), want, ids)
			}
		})
	}
}

func TestARepositoryThatMovedIsTheSameByItsRemote(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("app", "https://example.com/team/app")
	before, _ := g.resolver().Identify(g.path("app"), "")
	if err := os.Rename(g.path("app"), g.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	after, _ := g.resolver().Identify(g.path("elsewhere"), "")
	if before.ID != after.ID || before.Aliases[0] != g.path("app") || after.Aliases[0] != g.path("elsewhere") {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestARecordedRemoteTellsWhatTheDirectoryWasKnownAs(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("now", "https://example.com/team/another")
	g.dir("plain")
	for cwd, want := range map[string]int{"gone": 1, "plain": 1, "now": 0, "temp/x": 0} {
		p, _ := g.resolver().Identify(g.path(cwd), "https://example.com/team/app")
		if len(p.Aliases) != want || want > 0 && p.Aliases[0] != g.path(cwd) {
			t.Errorf("%s: aliases %q", cwd, p.Aliases)
		}
	}
}
