//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

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

func TestARunThatOthersKillAHundredTimesMakesNothingDead(t *testing.T) {
	t.Parallel()
	kills := by(t, 12, 50, 100) // with each model
	for name, v := range lives(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random, scratch := chance(t, "kill"), inMemory(t)
			killed, alone, finished, all := 0, 0, 0, 0
			v.home = filepath.Join(scratch, "home")
			for killed < kills {
				if finished == 8 { // each session was written: there is another life
					v.outlives(t, killed)
					v, finished = lives(t)[name], 0
					v.home = filepath.Join(scratch, fmt.Sprint("home", all))
				}
				// Its own death, and that which comes from the process that works for it alone:
				// of it, and of both. When the run has come to an end, there is more to do.
				failpoint := fmt.Sprintf("kill %d", 1+random.IntN(60))
				if random.IntN(3) > 0 {
					failpoint = fmt.Sprintf("isolated kill %d %s", 1+random.IntN(5), []string{"parent", "group"}[random.IntN(2)])
				}
				e := v.run(t, failpoint)
				switch {
				case e.code == -1:
					killed++
					tried.byOthers.Add(1)
					if strings.HasPrefix(failpoint, "isolated") {
						alone++
					}
				case e.code == exitDone:
					finished, all = finished+1, all+1
					for i := range 3 {
						n := 3*finished + i
						writeSession(t, v.sessions, 1+n, []string{fmt.Sprintf("Always keep part %d free of global state.", n)}, []string{"make check"})
					}
				default:
					t.Fatalf("%s: exit code %d: %s", failpoint, e.code, e.say)
				}
				if _, err := os.Stat(filepath.Join(v.home, databaseName)); err != nil {
					continue
				}
				for _, job := range gjson.Get(v.jobs(t), "[failed,dead]|@flatten").Array() {
					if job.Get("crashes").Int() > 1 || job.Get("attempts").Int() > 0 {
						t.Fatalf("after %d kills, the last by %s: %s", killed, failpoint, job)
					}
				}
			}
			v.outlives(t, killed)
			t.Logf("%d kills, %d of them while a process of its own was at work; %d runs came to their end", killed, alone, all)
		})
	}
}

// outlives checks that the next run ends as if nobody had killed those before.
func (v victim) outlives(t *testing.T, killed int) {
	t.Helper()
	if e := v.run(t, ""); e.code != exitDone {
		t.Errorf("the next run: exit code %d: %s", e.code, e.say)
	}
	if diff := cmp.Diff(lastOf(t, v.undisturbed(t)), lastOf(t, v.home)); diff != "" {
		t.Errorf("after %d kills:\n%s", killed, diff)
	}
	now := v.jobs(t)
	if gjson.Get(now, "jobs.done").Int() == 0 || gjson.Get(now, "jobs|@values|#").Int() != 1 {
		t.Errorf("jobs: %s", gjson.Get(now, "jobs"))
	}
}
