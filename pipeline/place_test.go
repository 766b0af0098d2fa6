package pipeline_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
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
	first := projectsIn(g.t, g.home)[0]

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
	rows := projectsIn(g.t, g.home)
	if len(rows) != 1 || rows[0].ID != first.ID || rows[0].Identity != appID || rows[0].Remote != appID || rows[0].Extractions != 5 {
		t.Fatalf("first %+v\nnow %+v", first, rows)
	}
	for _, ref := range []string{first.ID, "app", appID, g.path("src/app"), g.path("elsewhere/app")} {
		g.wantMemory(ref, "pnpm", "header of a fixture", "print the ledger", "tag of a release", "published branch")
	}
	if report := g.run(); len(report.Phase2) != 0 || len(projectsIn(g.t, g.home)) != 1 {
		t.Errorf("again: %+v", report.Phase2)
	}
}

// All sessions are read in one run, the first one in the middle of the others.
func TestAFormerRemoteThatWasRecordedIsOfTheSameClone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, former string
		after        func(g ground)
		want         int // projects
	}{
		{"another owner", "https://example.com/before/app", nil, 1},
		{"another host", "git@git.example.org:Team/App.git", nil, 1},
		{"another repository", "https://example.com/team/tool", nil, 2},
		{"the upstream of a fork", "https://example.com/before/app", func(g ground) {
			g.git("src/app", "remote", "add", "upstream", "https://example.com/before/app")
		}, 2},
		{"another repository of this machine", "/srv/git/app", nil, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			g.repo("src/app", appURL)
			if test.after != nil {
				test.after(g)
			}
			g.codex("one", "src/app", test.former, "Always write the header of a fixture.")
			g.codex("three", "src/app/cmd", test.former, "Never print the ledger.")
			g.codex("two", "src/app", appURL, "Never use npm, always use pnpm.")
			g.run()
			if rows := projectsIn(t, g.home); len(rows) != test.want {
				t.Fatalf("projects %+v", rows)
			}
			if test.want == 1 {
				g.wantMemory("app", "header of a fixture", "print the ledger", "pnpm")
			}
		})
	}
}

// The first session of each case is read in the first run, the second after the change.
func TestAProjectIsRecognisedAfterAChange(t *testing.T) {
	t.Parallel()
	const renamed = "https://git.example.org/new/app"
	move := func(g ground, from, to string) {
		g.t.Helper()
		must(g.t, os.MkdirAll(filepath.Dir(g.path(to)), 0o700))
		must(g.t, os.Rename(g.path(from), g.path(to)))
	}
	for _, test := range []struct {
		name         string
		before       func(g ground) // makes src/app
		after        func(g ground)
		cwd, remote  string // of the second session; empty: src/app, and none recorded
		same         bool
		alias        string // that the first project then has
		wantIdentity string // of the second session's project, if not the first's
	}{
		{name: "its origin got another name and host", after: func(g ground) { g.git("src/app", "remote", "set-url", "origin", renamed) },
			same: true, alias: "git.example.org/new/app"},
		{name: "its origin is reached by ssh", after: func(g ground) { g.git("src/app", "remote", "set-url", "origin", "git@example.com:team/app") },
			same: true},
		{name: "the new name was recorded, in a worktree", after: func(g ground) {
			g.git("src/app", "remote", "set-url", "origin", renamed)
			g.git("src/app", "worktree", "add", "-q", "../wt")
		}, cwd: "src/wt", remote: renamed, same: true, alias: "git.example.org/new/app"},
		{name: "its origin was renamed, and it was moved", after: func(g ground) {
			g.git("src/app", "remote", "set-url", "origin", renamed)
			move(g, "src/app", "work/app")
		}, cwd: "work/app", same: true, alias: "git.example.org/new/app"},
		{name: "a second clone of the new name", after: func(g ground) {
			g.git("src/app", "remote", "set-url", "origin", renamed)
			g.claude("between", "src/app", "Never print the ledger.")
			g.run()
			g.repo("second", renamed)
		}, cwd: "second", same: true},
		{name: "a fork beside its upstream", after: func(g ground) {
			g.repo("fork", "https://example.com/me/app")
			g.git("fork", "remote", "add", "upstream", appURL)
		}, cwd: "fork", wantIdentity: "example.com/me/app"},
		{name: "its origin is a fork now, the former origin its upstream", after: func(g ground) {
			g.git("src/app", "remote", "rename", "origin", "upstream")
			g.git("src/app", "remote", "add", "origin", "https://example.com/me/app")
		}, wantIdentity: "example.com/me/app"},
		{name: "another clone is at the path", after: func(g ground) { move(g, "src/app", "gone"); g.repo("src/app", renamed) },
			wantIdentity: "git.example.org/new/app"},
		{name: "a repository without a remote is at the path", after: func(g ground) { move(g, "src/app", "gone"); g.repo("src/app", "") },
			wantIdentity: "src/app"},

		{name: "without a remote, moved", before: func(g ground) { g.repo("src/app", "") },
			after: func(g ground) { move(g, "src/app", "work/tool") }, cwd: "work/tool", same: true, alias: "src/app"},
		{name: "without a remote, moved, and it gained one", before: func(g ground) { g.repo("src/app", "") },
			after: func(g ground) { move(g, "src/app", "tool"); g.git("tool", "remote", "add", "origin", appURL) },
			cwd:   "tool", same: true, alias: "src/app"},
		{name: "without a remote, another repository at the path", before: func(g ground) { g.repo("src/app", "") },
			after: func(g ground) { move(g, "src/app", "gone"); g.repo("src/app", "") }, wantIdentity: "src/app"},
		{name: "without a remote, another one at the path that has one", before: func(g ground) { g.repo("src/app", "") },
			after: func(g ground) { move(g, "src/app", "gone"); g.repo("src/app", appURL) }, wantIdentity: appID},
		{name: "without a remote, a copy", before: func(g ground) { g.repo("src/app", "") },
			after: func(g ground) { must(g.t, os.CopyFS(g.path("copy"), os.DirFS(g.path("src/app")))) },
			cwd:   "copy", wantIdentity: "copy"},
		{name: "a directory that became a repository", before: func(g ground) { g.dir("src/app") },
			after: func(g ground) { g.git("src/app", "init", "-q") }, same: true},
		{name: "a submodule", after: func(g ground) {
			g.repo("lib", "")
			g.git("src/app", "submodule", "add", "-q", g.path("lib"), "vendor/lib")
			g.git("src/app/vendor/lib", "remote", "set-url", "origin", renamed)
		}, cwd: "src/app/vendor/lib", wantIdentity: "git.example.org/new/app"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			if test.before == nil {
				test.before = func(g ground) { g.repo("src/app", appURL) }
			}
			test.before(g)
			g.claude("one", "src/app", "Never use npm, always use pnpm.")
			g.run()
			first := projectsIn(t, g.home)[0]
			if test.after != nil {
				test.after(g)
			}
			g.codex("two", cmp.Or(test.cwd, "src/app"), test.remote, "Always write the header of a fixture.")
			g.run()
			sessions := sessionsOf(t, g.home)
			one, two := sessions["claude:one"].ProjectID, sessions["codex:two"].ProjectID
			if one != first.ID || (two == first.ID) != test.same || !test.same && g.projectOf("two") != test.wantIdentity {
				t.Fatalf("in %s and %s (%s); want the same project: %v", one, two, g.projectOf("two"), test.same)
			}
			now := find(t, g.home, first.ID)
			if test.alias != "" && !slices.Contains(now.Aliases, test.alias) && !slices.Contains(now.Aliases, g.path(test.alias)) {
				t.Errorf("aliases %q", now.Aliases)
			}
			if test.same {
				g.wantMemory(first.ID, "pnpm", "header of a fixture")
			} else {
				g.wantMemory(two, "header of a fixture")
			}
		})
	}
}

// Containers may mount different repositories at one path.
func TestRepositoriesThatTakeTurnsAtAPathAreToldApart(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	swap := func(out, in string) {
		must(t, errors.Join(os.Rename(g.path("work"), g.path(out)), os.Rename(g.path(in), g.path("work"))))
	}
	g.repo("b", "")
	g.repo("work", "")
	g.claude("one", "work", "Never use npm, always use pnpm.")
	g.run()
	swap("a", "b")
	g.claude("two", "work", "Always write the header of a fixture.")
	g.run()
	swap("b", "a")
	g.claude("three", "work", "Never print the ledger.")
	g.run()
	sessions := sessionsOf(t, g.home)
	a, b := sessions["claude:one"].ProjectID, sessions["claude:two"].ProjectID
	if a == b || sessions["claude:three"].ProjectID != a {
		t.Fatalf("in %s, %s and %s", a, b, sessions["claude:three"].ProjectID)
	}
	g.wantMemory(a, "pnpm", "print the ledger")
	g.wantMemory(b, "header of a fixture")
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

// ground is a person's home directory with real repositories, a directory of
// sessions that worked there, and a home of memoir's.
type ground struct {
	t                    *testing.T
	user, sessions, home string
}

func newGround(t *testing.T) ground {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	g := ground{t: t, user: filepath.Join(root, "user"), sessions: filepath.Join(root, "sessions"), home: filepath.Join(root, "home")}
	for _, dir := range []string{g.user, g.sessions, g.home} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	return g
}

// path is below the person's home; what is absolute stays.
func (g ground) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(g.user, p)
}

func (g ground) dir(p string) {
	g.t.Helper()
	must(g.t, os.MkdirAll(g.path(p), 0o700))
}

// git runs git in a directory, isolated from the machine's own configuration.
func (g ground) git(dir string, args ...string) {
	g.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = g.path(dir)
	cmd.Env = []string{"HOME=" + g.user, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1",
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

// claude writes a session that records no remote.
func (g ground) claude(id, cwd, prompt string) {
	g.t.Helper()
	claudeSession(g.t, g.sessions, id, g.path(cwd), prompt)
}

// codex writes a session that records a remote, which may be empty.
func (g ground) codex(id, cwd, remote, prompt string) string {
	g.t.Helper()
	path := codexSession(g.t, g.sessions, id, g.path(cwd), "main", prompt)
	text, err := os.ReadFile(path)
	if err == nil && remote != "" {
		text = []byte(strings.Replace(string(text), `"git":{`, `"git":{"repository_url":"`+remote+`",`, 1))
		err = os.WriteFile(path, text, 0o600)
	}
	must(g.t, err)
	return path
}

func (g ground) options() pipeline.Options {
	o := options(g.home, g.sessions)
	o.Env.Home = g.user
	return o
}

func (g ground) run() pipeline.Report {
	g.t.Helper()
	return run(g.t, g.options())
}

// projectOf is the identity, below the person's home, of the project that a session
// counts for; "" if none.
func (g ground) projectOf(id string) string {
	g.t.Helper()
	sessions := sessionsOf(g.t, g.home)
	for _, row := range projectsIn(g.t, g.home) {
		if row.ID == sessions["codex:"+id].ProjectID || row.ID == sessions["claude:"+id].ProjectID {
			return strings.TrimPrefix(row.Identity, g.user+"/")
		}
	}
	return ""
}

// find is the registered project that ref names.
func find(t *testing.T, home, ref string) memoir.Project {
	t.Helper()
	return ask(t, home, func(st *store.Store) (store.ProjectRow, error) { return st.FindProject(t.Context(), ref) }).Project
}

// wantMemory checks what the live memory of the project that ref names says.
func (g ground) wantMemory(ref string, want ...string) {
	g.t.Helper()
	text := liveText(g.t, g.home, find(g.t, g.home, ref).ID)
	for _, line := range want {
		if !strings.Contains(text, line) {
			g.t.Errorf("%q is not in the memory of %s:\n%s", line, ref, text)
		}
	}
}
