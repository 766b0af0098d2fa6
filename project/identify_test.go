package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"memoir"
)

// ground is a directory tree with real repositories. It has its own temporary directory, since the tests run below
// the machine's.
type ground struct {
	t    *testing.T
	root string
}

func newGround(t *testing.T) ground {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := ground{t, root}
	g.dir("home")
	g.dir("temp")
	return g
}

func (g ground) path(p string) string {
	if p == "" {
		return ""
	}
	return filepath.Join(g.root, p)
}

func (g ground) dir(p string) {
	g.t.Helper()
	if err := os.MkdirAll(g.path(p), 0o700); err != nil {
		g.t.Fatal(err)
	}
}

func (g ground) remove(p string) {
	g.t.Helper()
	if err := os.RemoveAll(g.path(p)); err != nil {
		g.t.Fatal(err)
	}
}

// git runs git in a directory, isolated from the machine's own configuration.
func (g ground) git(dir string, args ...string) {
	g.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = g.path(dir)
	cmd.Env = []string{"HOME=" + g.path("home"), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// repo makes a repository with a commit and perhaps an origin.
func (g ground) repo(dir, origin string) {
	g.t.Helper()
	g.dir(dir)
	g.git(dir, "init", "-q")
	g.git(dir, "commit", "-q", "--allow-empty", "-m", "first")
	if origin != "" {
		g.git(dir, "remote", "add", "origin", origin)
	}
}

func (g ground) resolver() *Resolver {
	return NewResolver(Options{Home: g.path("home"), TempDirs: []string{g.path("temp")}})
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	const app = "https://example.com/team/app.git"
	for _, test := range []struct {
		name        string
		make        func(g ground)
		cwd, remote string // cwd is below the ground
		identity    string // below the ground if it begins with "@"
		top         string // below the ground
		status      Status
	}{
		{"a repository with a remote", func(g ground) { g.repo("app", app) },
			"app", "", "example.com/team/app", "app", Remote},
		{"a directory in it", func(g ground) { g.repo("app", app); g.dir("app/a/b") },
			"app/a/b", "", "example.com/team/app", "app", Remote},
		{"another remote than origin", func(g ground) {
			g.repo("app", "")
			g.git("app", "remote", "add", "upstream", app)
		}, "app", "", "example.com/team/app", "app", Remote},
		{"origin before others", func(g ground) {
			g.repo("app", "")
			g.git("app", "remote", "add", "fork", "https://example.com/fork/app")
			g.git("app", "remote", "add", "origin", app)
		}, "app", "", "example.com/team/app", "app", Remote},
		{"the recorded remote comes before the repository's", func(g ground) { g.repo("app", app) },
			"app", "git@example.com:team/old.git", "example.com/team/old", "app", Remote},
		{"the recorded remote of a directory that is gone", func(ground) {},
			"gone/app", app, "example.com/team/app", "gone/app", Remote},
		{"a recorded remote that names nothing", func(g ground) { g.repo("app", "") },
			"app", "../x", "@app", "app", GitDir},
		{"a recorded remote without a directory", func(ground) {}, "", app, "example.com/team/app", "", Remote},

		{"no remote", func(g ground) { g.repo("app", "") }, "app", "", "@app", "app", GitDir},
		{"a worktree", func(g ground) { g.repo("app", ""); g.git("app", "worktree", "add", "-q", "../wt") },
			"wt", "", "@app", "wt", GitDir},
		{"a directory in a worktree of a repository with a remote", func(g ground) {
			g.repo("app", app)
			g.git("app", "worktree", "add", "-q", "../wt")
			g.dir("wt/x")
		}, "wt/x", "", "example.com/team/app", "wt", Remote},
		{"a worktree whose repository is gone", func(g ground) {
			g.repo("app", "")
			g.git("app", "worktree", "add", "-q", "../wt")
			g.remove("app")
		}, "wt", "", "@app", "wt", GitDir},
		{"a worktree that is gone, in the repository", func(g ground) { g.repo("app", "") },
			"app/.claude/worktrees/blue/src", "", "@app", "app", GitDir},
		{"a bare repository", func(g ground) { g.dir("app.git"); g.git("app.git", "init", "-q", "--bare") },
			"app.git", "", "@app.git", "app.git", GitDir},
		{"a worktree of a bare repository", func(g ground) {
			g.repo("seed", "")
			g.git(".", "clone", "-q", "--bare", "seed", "app/.bare")
			g.git("app/.bare", "remote", "remove", "origin")
			g.git("app/.bare", "worktree", "add", "-q", "../main")
		}, "app/main", "", "@app/.bare", "app/main", GitDir},
		{"inside the git directory", func(g ground) { g.repo("app", "") }, "app/.git/hooks", "", "@app", "app", GitDir},
		{"a git directory elsewhere", func(g ground) {
			g.dir("app")
			g.dir("store")
			g.git("app", "init", "-q", "--separate-git-dir", "../store/app.git")
		}, "app", "", "@store/app.git", "app", GitDir},
		{"a submodule is its own project", func(g ground) {
			g.repo("lib", "")
			g.repo("app", app)
			g.git("app", "submodule", "add", "-q", g.path("lib"), "vendor/lib")
			g.git("app/vendor/lib", "remote", "set-url", "origin", "https://example.com/team/lib")
		}, "app/vendor/lib", "", "example.com/team/lib", "app/vendor/lib", Remote},
		{"a repository in a repository", func(g ground) { g.repo("app", app); g.repo("app/inner", "") },
			"app/inner", "", "@app/inner", "app/inner", GitDir},
		{"an empty .git is none", func(g ground) { g.repo("app", app); g.dir("app/sub/.git") },
			"app/sub", "", "example.com/team/app", "app", Remote},
		{"a clone of a local repository shares with it", func(g ground) {
			g.repo("app", "")
			g.git(".", "clone", "-q", g.path("app"), "copy")
		}, "copy", "", "@app", "copy", Remote},
		{"a clone of a local clone belongs where that one does", func(g ground) {
			g.repo("app", app)
			g.git(".", "clone", "-q", g.path("app"), "copy")
		}, "copy", "", "example.com/team/app", "copy", Remote},
		{"a recorded local remote too", func(g ground) { g.repo("app", app) },
			"gone", "@app", "example.com/team/app", "gone", Remote},

		{"no repository", func(g ground) { g.dir("notes/deep") }, "notes/deep", "", "@notes/deep", "notes/deep", Directory},
		{"gone without a trace", func(ground) {}, "gone/x", "", "@gone/x", "gone/x", Directory},
		{"a link to a directory", func(g ground) {
			g.dir("real")
			if err := os.Symlink("real", g.path("link")); err != nil {
				g.t.Skip("no symbolic links here: ", err)
			}
		}, "link", "", "@real", "real", Directory},
		{"below a link, gone", func(g ground) {
			g.dir("real")
			if err := os.Symlink("real", g.path("link")); err != nil {
				g.t.Skip("no symbolic links here: ", err)
			}
		}, "link/x", "", "@real/x", "real/x", Directory},

		{"the home directory", func(ground) {}, "home", "", "", "", Home},
		{"the home directory with a recorded remote", func(ground) {}, "home", app, "", "", Home},
		{"the home directory kept in git", func(g ground) { g.repo("home", app) }, "home", "", "", "", Home},
		{"a directory below a home kept in git", func(g ground) { g.repo("home", app); g.dir("home/notes") },
			"home/notes", "", "@home/notes", "home/notes", Directory},
		{"the same when the session recorded that repository", func(g ground) { g.repo("home", app); g.dir("home/notes") },
			"home/notes", app, "@home/notes", "home/notes", Directory},
		{"a repository below a home kept in git", func(g ground) { g.repo("home", app); g.repo("home/src/x", "") },
			"home/src/x", "", "@home/src/x", "home/src/x", GitDir},
		{"a worktree of a home kept in git has no place but its own", func(g ground) {
			g.repo("home", "")
			g.git("home", "worktree", "add", "-q", "../wt")
		}, "wt", "", "@wt", "wt", Directory},

		{"the temporary directory", func(ground) {}, "temp", app, "", "", Temporary},
		{"below it", func(g ground) { g.dir("temp/x") }, "temp/x", "", "", "", Temporary},
		{"below it, gone", func(ground) {}, "temp/x/y", "", "", "", Temporary},
		{"below it, gone, with a recorded remote", func(ground) {}, "temp/x/app", app, "example.com/team/app", "temp/x/app", Remote},
		{"below it, a repository", func(g ground) { g.repo("temp/x", "") }, "temp/x", "", "@temp/x", "temp/x", GitDir},
		{"below it, a repository with a remote", func(g ground) { g.repo("temp/x", app) }, "temp/x", "", "example.com/team/app", "temp/x", Remote},
		{"a temporary directory kept in git", func(g ground) { g.repo("temp", app); g.dir("temp/x") }, "temp/x", "", "", "", Temporary},
		{"no directory at all", func(ground) {}, "", "", "", "", Nowhere},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			test.make(g)
			at := func(p string) string {
				if rest, ok := strings.CutPrefix(p, "@"); ok {
					return g.path(rest)
				}
				return p
			}
			p, status := g.resolver().Identify(g.path(test.cwd), at(test.remote))
			if status != test.status || p.Identity != at(test.identity) {
				t.Fatalf("got %q, %s; want %q, %s", p.Identity, status, at(test.identity), test.status)
			}
			if status.OK() != (p.ID != "") || (status == Remote) != (p.Remote != "") {
				t.Errorf("%s: got %+v", status, p)
			}
			var directories []string
			if test.top != "" {
				directories = []string{g.path(test.top)}
			}
			if !slices.Equal(p.Directories, directories) {
				t.Errorf("got directories %q, want %q", p.Directories, directories)
			}
		})
	}
}

func TestARemoteKeepsTheEarlierIdentityAsAlias(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.dir("app")
	before, _ := g.resolver().Identify(g.path("app"), "")
	g.git("app", "init", "-q")
	local, _ := g.resolver().Identify(g.path("app"), "")
	g.git("app", "remote", "add", "origin", "https://example.com/app")
	remote, _ := g.resolver().Identify(g.path("app"), "")
	if before.ID != local.ID || local.ID == remote.ID || !slices.Equal(remote.Aliases, []string{local.Identity}) {
		t.Errorf("ids %q, %q, %q, aliases %q", before.ID, local.ID, remote.ID, remote.Aliases)
	}
}

func TestTheUsersOwnNameWins(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("app", "https://example.com/app")
	g.dir("app/sub")
	g.dir("other")
	names := map[string]string{g.path("app"): "My Work!", g.path("other"): "My Work!", g.path("home"): "dot", g.path("temp"): "t"}
	r := NewResolver(Options{Explicit: func(dir string) string { return names[dir] }, Home: g.path("home"), TempDirs: []string{g.path("temp")}})
	var ids []string
	for _, cwd := range []string{"app", "app/sub", "other"} {
		p, status := r.Identify(g.path(cwd), "https://example.com/recorded")
		if status != Explicit || p.Name != "My-Work" {
			t.Errorf("%s: %s, %+v", cwd, status, p)
		}
		ids = append(ids, p.ID)
	}
	if len(slices.Compact(ids)) != 1 {
		t.Errorf("one name, several projects: %v", ids)
	}
	if p, status := r.Identify(g.path("home"), ""); status != Explicit || p.Name != "dot" {
		t.Errorf("home: %s, %+v", status, p)
	}
}

func TestPathsOfOtherMachines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cwd      string
		identity string
		status   Status
	}{
		{"/Users/nobody-here/src/mise", "/Users/nobody-here/src/mise", Directory},
		{`C:\Users\bob\src\app`, "", Nowhere},
		{"/srv/App", "/srv/App", Directory},
		{"/Users/nobody-here", "", Home},
		{"/home/nobody-here", "", Home},
		{"/private/tmp/x", "", Temporary},
		{"/var/folders/ab/cdef/T/x", "", Temporary},
		{"/", "", Root},
		{"relative/path", "", Nowhere},
		{"..", "", Nowhere},
		{"~/x", "", Nowhere},
	} {
		p, status := NewResolver(Options{Home: "/home/ann"}).Identify(test.cwd, "")
		if p.Identity != test.identity || status != test.status {
			t.Errorf("%s: got %q, %s", test.cwd, p.Identity, status)
		}
	}
	p, status := NewResolver(Options{}).Identify(`C:\Users\bob\src\app`, "git@github.com:a/b")
	if status != Remote || p.Identity != "github.com/a/b" || len(p.Directories) > 0 {
		t.Errorf("%+v, %s", p, status)
	}
}

func TestAHomeBelowATemporaryDirectoryIsNotTemporary(t *testing.T) {
	t.Parallel()
	r := NewResolver(Options{Home: "/tmp/none/home/ann", TempDirs: []string{"/tmp"}})
	for cwd, want := range map[string]Status{
		"/tmp/none/home/ann/src/app": Directory, "/tmp/none/home/ann": Home, "/tmp/none/other": Temporary,
	} {
		if _, status := r.Identify(cwd, ""); status != want {
			t.Errorf("%s: got %s, want %s", cwd, status, want)
		}
	}
}

func TestEachDirectoryIsReadOnce(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("app", "https://example.com/app")
	r := g.resolver()
	before, _ := r.Identify(g.path("app"), "")
	g.remove("app")
	var wg sync.WaitGroup
	results := make([]memoir.Project, 8)
	for i := range results {
		wg.Go(func() { results[i], _ = r.Identify(g.path("app"), "") })
	}
	wg.Wait()
	for _, after := range results {
		if after.ID != before.ID {
			t.Errorf("got %s, want %s", after.ID, before.ID)
		}
	}
}
