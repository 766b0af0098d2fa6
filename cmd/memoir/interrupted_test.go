//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// points are the moments of an undisturbed run.
func (v victim) points(t *testing.T) []string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "points")
	if e := v.run(t, "log "+log); e.code != exitDone {
		t.Fatalf("exit code %d: %s", e.code, e.say)
	}
	b, err := os.ReadFile(log)
	must(t, err)
	all := strings.Split(strings.TrimSpace(string(b)), "\n")
	pid, _, _ := strings.Cut(all[0], " ")
	return slices.DeleteFunc(all, func(line string) bool { return !strings.HasPrefix(line, pid+" ") })
}

// interruptedOnce checks what an interrupted run leaves: nothing that is running, and
// nothing that counts against a session or a project beyond what did before.
func (v victim) interruptedOnce(t *testing.T, e ending, what string, crashes int64) {
	t.Helper()
	if e.code != exitInterrupted || !strings.Contains(e.say, "memoir: error: ") || !strings.Contains(e.say, "interrupted by signal: ") {
		t.Errorf("%s: exit code %d: %s", what, e.code, e.say)
	}
	if _, err := os.Stat(filepath.Join(v.home, databaseName)); err != nil {
		return
	}
	now := v.jobs(t)
	if n := gjson.Get(now, "running.#").Int() + gjson.Get(now, "jobs.running").Int(); n != 0 {
		t.Errorf("%s: %d jobs were not given back: %s", what, n, gjson.Get(now, "running"))
	}
	for _, job := range gjson.Get(now, "[failed,dead]|@flatten").Array() {
		if job.Get("attempts").Int() > 0 || job.Get("crashes").Int() > crashes {
			t.Errorf("%s: it counts: %s", what, job)
		}
	}
}

// eachLife tests each kind of work, with the state that an undisturbed run leaves.
func eachLife(t *testing.T, test func(t *testing.T, v victim, want state)) {
	for name, v := range lives(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, v, stateOf(t, v.undisturbed(t)))
		})
	}
}

func TestARunThatIsInterruptedAtAnyMomentGivesBackAndIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before anything is prepared
	eachLife(t, func(t *testing.T, v victim, want state) {
		v.home = filepath.Join(t.TempDir(), "measured")
		points := v.points(t)
		scratch := inMemory(t)
		chosen := chosenOf(t, "interrupt", len(points), by(t, 4, 16, every))
		for i, n := range chosen {
			n++ // moments are counted from 1
			whom := []string{"", " group"}[i%2]
			tried.interrupted.Add(1)
			signal := []string{"interrupt", "terminate"}[i/2%2]
			what := fmt.Sprintf("%s at moment %d of %d (%s)%s", signal, n, len(points), points[n-1], whom)
			v.home = filepath.Join(scratch, fmt.Sprint("home", n))
			e := v.run(t, fmt.Sprintf("%s %d%s", signal, n, whom))
			if e.code == exitDone { // the signal came with the last step
				continue
			}
			v.interruptedOnce(t, e, what, 0)
			v.finishes(t, want, what)
			must(t, os.RemoveAll(v.home))
		}
		t.Logf("%d of %d moments", len(chosen), len(points))
	})
}

// finishes runs once more, undisturbed.
func (v victim) finishes(t *testing.T, want state, what string) {
	t.Helper()
	if e := v.run(t, ""); e.code != exitDone {
		t.Errorf("%s: the next run: %d %s", what, e.code, e.say)
	}
	// Calls that were given up are in the ledger.
	if diff := want.without("ledger").differences(stateOf(t, v.home).without("ledger")); diff != "" {
		t.Errorf("%s: what the next run leaves differs:\n%s", what, diff)
	}
}
