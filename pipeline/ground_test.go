package pipeline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

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

// projects lists what is registered.
func (g ground) projects() []store.ProjectRow {
	g.t.Helper()
	st := open(g.t, g.home)
	defer st.Close()
	rows, err := st.Projects(g.t.Context())
	must(g.t, err)
	return rows
}

// projectOf is the identity, below the person's home, of the project that a session
// counts for; "" if none.
func (g ground) projectOf(id string) string {
	g.t.Helper()
	st := open(g.t, g.home)
	defer st.Close()
	sessions, err := st.FindSessions(g.t.Context(), id)
	if err != nil || len(sessions) != 1 {
		g.t.Fatalf("session %s: %v, %v", id, sessions, err)
	}
	for _, row := range g.projects() {
		if row.ID == sessions[0].ProjectID {
			return strings.TrimPrefix(row.Identity, g.user+"/")
		}
	}
	return ""
}

// find is the registered project that ref names.
func find(t *testing.T, home, ref string) memoir.Project {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	row, err := st.FindProject(t.Context(), ref)
	must(t, err)
	return row.Project
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
