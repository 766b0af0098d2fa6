//go:build unix

package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir/testdata"
)

// fixtures writes the fixture sessions.
func fixtures(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	_, err := testdata.Write(dir)
	must(t, err)
	return dir
}

// fewNames are fixture sessions that make a run write everything that runs write: two
// projects, and a skill in one.
var fewNames = []string{"release-4", "release-41", "exitcode", "dates", "release-5", "ocr", "bare"}

// few moves the first of them into a directory.
func few(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "few")
	must(t, os.Mkdir(dir, 0o700))
	move(t, fixtures(t), dir, fewNames[:n]...)
	return dir
}

func move(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		i := slices.IndexFunc(testdata.Expected, func(s testdata.Session) bool { return s.Name == name })
		for _, file := range testdata.Expected[i].Files {
			path := filepath.Join(from, filepath.FromSlash(file))
			if _, err := os.Stat(path); err != nil {
				path = filepath.Join(from, filepath.Base(file))
			}
			must(t, os.Rename(path, filepath.Join(to, filepath.Base(file))))
		}
	}
}

// grown is a home with a memory that a person edited, and sessions of which some came
// later than the memory.
func grown(t *testing.T) (sessions, home string) {
	t.Helper()
	sessions, home = growing(t, len(fewNames), 4)
	edit(t, home, houseRules)
	return sessions, home
}

// growing are the first n of the few sessions, and a home with the memory of some.
func growing(t *testing.T, n, some int) (sessions, home string) {
	t.Helper()
	sessions, aside := few(t, n), t.TempDir()
	move(t, sessions, aside, fewNames[some:n]...)
	home = made(t, sessions)
	move(t, aside, sessions, fewNames[some:n]...)
	return sessions, home
}

// made is a home after a run.
func made(t *testing.T, sessions string) string {
	t.Helper()
	x := newTorture(t, sessions, "")
	try := x.trial(t)
	if out, err := try.run(""); err != nil {
		t.Fatalf("%v: %s", err, out.stderr)
	}
	return try.home
}

const houseRules = "\n## House rules\n\n- never on a Friday\n"

// edit adds a text to each memory by hand.
func edit(t *testing.T, home, text string) {
	t.Helper()
	memories, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "MEMORY.md"))
	must(t, err)
	for _, path := range memories {
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append(b, text...), 0o600))
	}
}

// old is a home with several generations and hand edits, all sessions of which are done,
// and one more hand edit that no run has seen. Who disturbs it works on a copy.
var old = once(func(t *testing.T) (o struct{ sessions, home string }) {
	t.Helper()
	sessions, home := grown(t)
	dir := sharedDir(t)
	o.sessions, o.home = filepath.Join(dir, "sessions"), filepath.Join(dir, "home")
	must(t, errors.Join(os.CopyFS(o.sessions, os.DirFS(sessions)), os.CopyFS(o.home, os.DirFS(home)),
		os.RemoveAll(sessions))) // which goes with the test that asked first, and is to be gone for all
	try := newTorture(t, o.sessions, o.home).trial(t)
	if out, err := try.run(""); err != nil {
		t.Fatalf("%v: %s", err, out.stderr)
	}
	edit(t, try.home, houseRules)
	must(t, errors.Join(os.RemoveAll(o.home), os.CopyFS(o.home, os.DirFS(try.home))))
	return o
})

// on disturbs a command in an old home.
func on(args ...string) func(t *testing.T) *torture {
	return func(t *testing.T) *torture {
		o := old(t)
		return newTorture(t, o.sessions, o.home, args...)
	}
}

// A scene of torture is a command in a home.
var tortureScenes = []struct {
	name  string
	dense int // moments of a dense sample; 0: as many as of any
	make  func(t *testing.T) *torture
}{
	{"first run", 80, func(t *testing.T) *torture { return newTorture(t, few(t, len(fewNames)), "") }},
	{"next run, after hand edits", 90, func(t *testing.T) *torture {
		sessions, home := grown(t)
		return newTorture(t, sessions, home)
	}},
	{"run over damage", 20, damaged},
	{"forget a session", 0, on("forget", "019e3048", "--yes")},
	{"forget and purge", 0, on("forget", "019e3048", "--purge", "--yes")},
	{"forget a text", 0, on("forget", "--match", "exit with code 3", "--yes")},
	{"forget a project", 0, on("forget", "--project", "papertrail", "--yes")},
	{"restore", 0, on("restore", "1", "--project", "papertrail", "--yes")},
	{"disable", 0, on("sessions", "disable", "019e3048")},
	{"enqueue", 0, on("enqueue", "--project", "papertrail")},
	{"clear a project", 0, on("clear", "--project", "papertrail", "--yes")},
	{"clear all", 0, on("clear", "--all", "--yes")},
	{"retry", 0, failures},
	{"trust", 0, trusted},
}

// damaged is a home of which one memory has lost its link and another its files, and
// sessions of which one of each project came later.
func damaged(t *testing.T) *torture {
	sessions, home := growing(t, 5, 3)
	x := newTorture(t, sessions, home)
	x.lives = append(x.lives, livesOf(t, home))
	edit(t, home, houseRules)
	x.lives = append(x.lives, livesOf(t, home))
	links, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory"))
	must(t, err)
	live, err := filepath.EvalSymlinks(links[1])
	must(t, err)
	must(t, errors.Join(os.Remove(links[0]), os.RemoveAll(live)))
	return x
}

// failures is a home whose sessions a model failed on that is no longer asked.
func failures(t *testing.T) *torture {
	x := newTorture(t, few(t, len(fewNames)), "")
	try := x.trial(t)
	configureModel(t, try.user, "api: exec, command: ['false']")
	if out, err := try.run(""); err == nil || !strings.Contains(out.stdout, `"failed"`) {
		t.Fatalf("a program that fails was no failure: %s", out.stdout)
	}
	return newTorture(t, x.sessions, try.home, "retry", "--all")
}

func trusted(t *testing.T) *torture {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ".memoir.yml"), "memories: {enabled: true}\n")
	return on("trust", dir)(t)
}

// Whatever writes is killed at each of its writes, and finds no room from each on. The
// next run leaves what it leaves after a command that nothing happened to, or after one
// that was not given; nothing is left lying about, and no reader ever met a half of it.
func TestACommandThatIsDisturbedAtAnyWriteIsFinishedByTheNextRun(t *testing.T) {
	t.Parallel()
	for _, scene := range tortureScenes {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before anything is prepared
			x := scene.make(t)
			x.dense = cmp.Or(scene.dense, x.dense)
			x.undisturbed(t)
			x.killed(t)
			x.starved(t)
		})
	}
}
