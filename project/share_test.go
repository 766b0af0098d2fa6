package project

import (
	"os"
	"path/filepath"
	"strings"
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
		{"two spellings of a Windows path", func(ground) {},
			[]seen{{`C:\Users\Bob\src\App`, ""}, {`c:/users/bob/SRC/app`, ""}, {`\\?\C:\Users\Bob\src\App\`, ""}}, true},
		{"two drives", func(ground) {}, []seen{{`C:\src\app`, ""}, {`D:\src\app`, ""}}, false},
		{"two spellings where the case counts", func(g ground) { g.dir("App"); g.dir("app") }, []seen{{"App", ""}, {"app", ""}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			test.make(g)
			if strings.Contains(test.name, "where the case counts") && foldsCase(g) {
				t.Skip("needs a file system that tells upper from lower case")
			}
			ids := map[string]bool{}
			for _, s := range test.seen {
				cwd := s.cwd
				if !hasDrive(cwd) && !strings.HasPrefix(cwd, `\\`) {
					cwd = g.path(cwd)
				}
				p, status := g.resolver().Identify(cwd, s.remote)
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

func foldsCase(g ground) bool {
	g.dir("probe")
	_, err := os.Lstat(g.path("PROBE"))
	return err == nil
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

// anyCase looks names up as a file system does that takes them in any case.
func anyCase(path string) (os.FileInfo, error) {
	at := string(filepath.Separator)
	for _, name := range strings.Split(filepath.Clean(path), at) {
		entries, err := os.ReadDir(at)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if strings.EqualFold(entry.Name(), name) {
				name = entry.Name()
				break
			}
		}
		at = filepath.Join(at, name)
	}
	return os.Lstat(at)
}

func TestOnAFileSystemThatTakesAnyCaseTwoSpellingsAreOneProject(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "Home")
	if err := os.MkdirAll(filepath.Join(home, "Src", "App"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newResolver(Options{Home: home, TempDirs: []string{filepath.Join(root, "Temp")}}, anyCase)
	first, status := r.Identify(filepath.Join(home, "Src", "App"), "")
	if status != Directory || first.Aliases[0] != filepath.Join(home, "Src", "App") {
		t.Fatalf("%s, %+v", string(status), first)
	}
	for _, cwd := range []string{"src/app", "SRC/App", "Src/app"} {
		if p, status := r.Identify(filepath.Join(home, cwd), ""); p.ID != first.ID {
			t.Errorf("%s: %s, %s, want %s", cwd, string(status), p.ID, first.ID)
		}
	}
	gone, _ := r.Identify(filepath.Join(home, "Gone", "X"), "")
	if again, _ := r.Identify(filepath.Join(home, "gone", "x"), ""); gone.ID != again.ID {
		t.Errorf("gone: %s and %s", gone.ID, again.ID)
	}
	for cwd, want := range map[string]Status{"HOME": Home, "home": Home, "TEMP": Temporary, "temp/x": Temporary} {
		if _, status := r.Identify(filepath.Join(root, cwd), ""); status != want {
			t.Errorf("%s: %s, want %s", cwd, string(status), string(want))
		}
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
