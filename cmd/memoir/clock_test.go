//go:build unix

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// While a process is stopped, the wall clock is set by a day and another run starts. The process keeps its lease and
// its claims, and succeeds.
func TestAProcessKeepsItsWorkThoughTheClockIsSet(t *testing.T) {
	t.Parallel()
	x := newTorture(t, few(t, len(fewNames)), "")
	x.undisturbed(t)
	for _, moment := range []string{"begin store.(*Store).StoreExtraction", "begin store.(*Store).Publish"} {
		if !slices.Contains(x.points, moment) {
			t.Fatalf("no moment is called %s", moment)
		}
		for _, by := range []string{"24h", "-24h"} {
			what := moment + ", set by " + by
			try := x.trial(t)
			clock := filepath.Join(t.TempDir(), "clock")
			put(t, clock, "0s")
			env := []string{"FAILPOINT_CLOCK=" + clock, "MEMOIR_MEMORIES_BUSYTIMEOUTSECONDS=120"}
			held, errs, status := try.stopAt(t, moment, env...)
			if !status.Stopped() {
				t.Fatalf("%s: did not stop: %s", what, errs)
			}
			put(t, clock, by)
			second := try.command("")
			second.Env = append(second.Env, env...)
			if other := capture(t, second); other.code != exitDone && other.code != exitBusy || strings.Contains(other.stderr, "did not extend") {
				t.Errorf("%s: the other run ended with %d, or took it over: %s", what, other.code, other.stderr)
			}
			must(t, held.Process.Signal(syscall.SIGCONT))
			if err := held.Wait(); err != nil && held.ProcessState.ExitCode() != exitBusy {
				t.Errorf("%s: going on: %v: %s", what, err, errs)
			}
			if strings.Contains(errs.String(), "lease was lost") {
				t.Errorf("%s: it lost its work: %s", what, errs)
			}
			blameless(t, try.home, what)
			try.succeeds(t, what+": the next run")
			if diff := cmp.Diff(x.last, lastOf(t, try.home)); diff != "" {
				t.Errorf("%s: the memory differs:\n%s", what, diff)
			}
		}
	}
}

// blameless checks that no job failed, crashed or is still claimed.
func blameless(t *testing.T, home, what string) {
	t.Helper()
	st := openStore(t, home)
	if st == nil {
		return
	}
	defer st.Close()
	now, err := st.Status(t.Context())
	must(t, err)
	for _, job := range append(now.Failed, now.Dead...) {
		if job.Attempts > 0 || job.Crashes > 0 {
			t.Errorf("%s: it counts against %s: %+v", what, job.Key, job)
		}
	}
	for _, job := range now.Running {
		t.Errorf("%s: cannot release its claim: %+v", what, job)
	}
}
