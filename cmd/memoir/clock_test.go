//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/store"
)

// clocked is a run whose wall clock is wrong by what a file says.
func (x *runner) clocked(t *testing.T, home, failpoint, wrong string) (cmd *exec.Cmd, errs *bytes.Buffer, clock string) {
	t.Helper()
	clock = filepath.Join(t.TempDir(), "clock")
	must(t, os.WriteFile(clock, []byte(wrong), 0o600))
	cmd, errs = x.command(home, ""), new(bytes.Buffer)
	cmd.Env = append(cmd.Env, "FAILPOINT_CLOCK="+clock, "MEMOIR_MEMORIES_BUSYTIMEOUTSECONDS=120")
	if failpoint != "" {
		cmd.Env = append(cmd.Env, "FAILPOINT="+failpoint)
	}
	cmd.Stderr = errs
	return cmd, errs, clock
}

// Eight processes whose clocks are days apart work off one home: each session is
// extracted from once, one process publishes at a time, and all finish.
func TestProcessesWhoseClocksAreDaysApartShareTheWork(t *testing.T) {
	t.Parallel()
	const sessions = 40
	x := &runner{binary: withFailpoints(t), sessions: multiply(t, sessions, 3)}
	alone, home := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "shared")
	if out, err := x.run(t, alone, ""); err != nil {
		t.Fatalf("%v: %s", err, out.stderr)
	}
	log := filepath.Join(t.TempDir(), "log")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for {
				cmd, errs, _ := x.clocked(t, home, "log "+log, fmt.Sprintf("%dh", 24*(i-4)))
				if err := cmd.Run(); err == nil {
					return
				} else if cmd.ProcessState.ExitCode() != exitBusy { // else another one was at it
					t.Errorf("clock %d days off: %v: %s", i-4, err, errs)
					return
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(lastOf(t, alone), lastOf(t, home)); diff != "" {
		t.Errorf("the memory differs from that of one process:\n%s", diff)
	}
	b, err := os.ReadFile(log)
	must(t, err)
	stored, publisher := 0, ""
	for line := range strings.Lines(string(b)) {
		pid, moment, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch moment {
		case "stored store.(*Store).StoreExtraction":
			stored++
		case "replace link memory.Root.Swap":
			if publisher != "" {
				t.Errorf("process %s published while %s did", pid, publisher)
			}
			publisher = pid
		case "committed store.(*Store).Publish":
			publisher = ""
		}
	}
	if stored != sessions {
		t.Errorf("%d extractions were stored of %d sessions", stored, sessions)
	}
	st := openStore(t, home)
	defer st.Close()
	done, err := st.Sessions(t.Context(), store.Filter{Reason: memoir.ReasonUpToDate})
	if must(t, err); len(done) != sessions {
		t.Errorf("%d of %d sessions are done", len(done), sessions)
	}
	now, err := st.Status(t.Context())
	if must(t, err); len(now.Failed)+len(now.Dead)+len(now.Running) > 0 {
		t.Errorf("left: %+v", now)
	}
}

// A process is held up in its work while the wall clock is set by a day, and another
// one comes. It has its lease still, so nothing is taken from it, and it ends well.
func TestAProcessKeepsItsWorkThoughTheClockIsSet(t *testing.T) {
	t.Parallel()
	x := newRunner(t, withFailpoints(t), fixtures(t), "")
	moments := map[string]int{}
	for i, point := range x.points {
		if _, ok := moments[point]; !ok {
			moments[point] = i + 1
		}
	}
	for _, moment := range []string{"begin store.(*Store).StoreExtraction", "begin store.(*Store).Publish"} {
		n := moments[moment]
		if n == 0 {
			t.Fatalf("no moment is called %s", moment)
		}
		for _, by := range []string{"24h", "-24h"} {
			what := moment + ", set by " + by
			home := x.home(t)
			held, errs, clock := x.clocked(t, home, "stop "+strconv.Itoa(n), "0s")
			held.Env = append(held.Env, "MEMOIR_MEMORIES_CONCURRENCY=1")
			must(t, held.Start())
			var status syscall.WaitStatus
			if _, err := syscall.Wait4(held.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
				t.Fatalf("%s: did not stop: %v", what, err)
			}
			must(t, os.WriteFile(clock, []byte(by), 0o600))
			other, said, _ := x.clocked(t, home, "", by)
			if err := other.Run(); err != nil && other.ProcessState.ExitCode() != exitBusy {
				t.Errorf("%s: the other run: %v: %s", what, err, said)
			}
			if strings.Contains(said.String(), "did not extend") {
				t.Errorf("%s: the other run took it over: %s", what, said)
			}
			must(t, held.Process.Signal(syscall.SIGCONT))
			if err := held.Wait(); err != nil && held.ProcessState.ExitCode() != exitBusy {
				t.Errorf("%s: going on: %v: %s", what, err, errs)
			}
			if strings.Contains(errs.String(), "lease was lost") {
				t.Errorf("%s: it lost its work: %s", what, errs)
			}
			x.blameless(t, home, what)
			if out, err := x.run(t, home, ""); err != nil {
				t.Errorf("%s: the next run: %v: %s", what, err, out.stderr)
			}
			if diff := cmp.Diff(x.last, lastOf(t, home)); diff != "" {
				t.Errorf("%s: the memory differs:\n%s", what, diff)
			}
		}
	}
}

// blameless checks that no job failed, was crashed over, or is still held.
func (x *runner) blameless(t *testing.T, home, what string) {
	t.Helper()
	st := openStore(t, home)
	defer st.Close()
	now, err := st.Status(t.Context())
	must(t, err)
	for _, job := range append(now.Failed, now.Dead...) {
		if job.Attempts > 0 || job.Crashes > 0 {
			t.Errorf("%s: it counts against %s: %+v", what, job.Key, job)
		}
	}
	for _, job := range now.Running {
		t.Errorf("%s: not given back: %+v", what, job)
	}
}
