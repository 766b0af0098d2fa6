//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"memoir/testdata"
)

// A victim is a program with failpoints, and what it is run over.
type victim struct {
	binary, sessions, home, user string
}

// an ending is how a run ended, with all that it started.
type ending struct {
	code        int // -1: by a signal
	stdout, say string
}

// run makes a run in a process group of its own, and waits until nothing that it
// started is left.
func (v victim) run(t testing.TB, failpoint string) ending {
	t.Helper()
	args := []string{"run", "--json", "--home", v.home, "--sessions", v.sessions, "--min-idle", "0", "--max-age", "0", "--limit", "1000", "--now", testdata.Now.Format(time.RFC3339)}
	cmd := exec.Command(v.binary, args...)
	cmd.Env = environment("HOME="+v.user, "SCENE_KEY="+sceneKey, "FAILPOINT="+failpoint)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, ours, err := os.Pipe() // ours is open for as long as any of them lives
	must(t, err)
	defer alive.Close()
	cmd.ExtraFiles = []*os.File{ours}
	var out, say bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &say
	must(t, cmd.Start())
	must(t, ours.Close())
	err = cmd.Wait()
	e := ending{code: codeOf(t, err), stdout: out.String(), say: say.String()}
	_, err = io.Copy(io.Discard, alive)
	must(t, err)
	return e
}

// jobs is how the queue of a home stands: jobs by status, and those that failed.
func (v victim) jobs(t testing.TB) string {
	t.Helper()
	cmd := exec.Command(v.binary, "status", "--json", "--home", v.home)
	cmd.Env = environment("HOME=" + v.user) // without variables of these tests, which it would refuse
	out, err := cmd.Output()
	must(t, err)
	return string(out)
}

// lives are the kinds of work at which a run is disturbed: with the built-in model,
// and with a program as the model.
func lives(t *testing.T) map[string]victim {
	binary := withFailpoints(t)
	builtin := victim{binary: binary, sessions: fixtures(t), user: t.TempDir()}
	setting, _ := script(t, "scribe")
	asking := newScene(t, layers(t, 6), setting)
	return map[string]victim{"built-in": builtin, "model": {binary: binary, sessions: asking.sessions, user: asking.user}}
}

// undisturbed is a home after a run that nobody disturbed.
func (v victim) undisturbed(t *testing.T) (home string) {
	t.Helper()
	v.home = filepath.Join(t.TempDir(), "home")
	if e := v.run(t, ""); e.code != exitDone {
		t.Fatalf("undisturbed: %d %s", e.code, e.say)
	}
	return v.home
}
