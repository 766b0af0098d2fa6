//go:build unix

package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir/lease"
	"memoir/store"
	"memoir/testdata"
)

// lockedBy locks a home's database in this process, as a program other than memoir.
func lockedBy(t *testing.T, home, begin string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(home, databaseName))
	must(t, err)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(begin); err != nil {
		db.Close()
		t.Fatal(err)
	}
	return func() { _, _ = db.Exec("ROLLBACK"); db.Close() }
}

const exclusively = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"

// newStand returns a home with a memory, and sessions that are only partly extracted.
func newStand(t *testing.T) trial {
	t.Helper()
	try := newTorture(t, few(t, len(fewNames)), "").trial(t)
	try.succeeds(t, "the first run", "run", "-q", "--limit", "3")
	return try
}

// whileWaiting starts a command and calls then when the command reports that it waits.
func (try trial) whileWaiting(t *testing.T, then func(cmd *exec.Cmd), args ...string) (code int, out string) {
	t.Helper()
	cmd := try.command("", args...)
	cmd.Env = append(cmd.Env, "MEMOIR_MEMORIES_BUSYTIMEOUTSECONDS=600")
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	var said bytes.Buffer
	lines, waits := bufio.NewScanner(stderr), false
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), "waiting: another program has locked the database") {
			waits = true
			then(cmd)
		}
	}
	_ = cmd.Wait()
	if !waits {
		t.Errorf("%s did not say that it waits: %s", args[0], said.String())
	}
	return cmd.ProcessState.ExitCode(), said.String()
}

func TestARunWaitsForALockedDatabaseAndSaysSo(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"BEGIN IMMEDIATE", exclusively} {
		s := newStand(t)
		release := lockedBy(t, s.home, begin)
		code, out := s.whileWaiting(t, func(*exec.Cmd) { release() }, "run")
		if code != exitDone || !strings.Contains(out, "published generation 2") {
			t.Errorf("%s: exit code %d:\n%s", begin, code, out)
		}
	}
}

func TestALockThatOutlastsPatienceIsBusyAndClaimsNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	before := stateOf(t, s.home)
	release := lockedBy(t, s.home, exclusively)
	s.env = []string{"MEMOIR_MEMORIES_BUSYTIMEOUTSECONDS=0"}
	for _, args := range [][]string{{"run"}, {"run", "--dry-run"}, {"status"}, {"sessions"}, {"projects"},
		{"forget", "--match", "xyz", "--yes"}, {"enqueue", "--project", testdata.Papertrail}, {"clear", "--all", "--yes"}} {
		out := s.run(t, "", args...)
		if out.code != exitBusy || !strings.Contains(out.stderr, "locked") || !strings.Contains(out.stderr, "memoir: hint: ") || strings.Contains(out.stderr, "goroutine") {
			t.Errorf("%v: %d:\n%s", args, out.code, out.stderr)
		}
	}
	release()
	if diff := before.differences(stateOf(t, s.home)); diff != "" {
		t.Errorf("something was changed:\n%s", diff)
	}
	st := openStore(t, s.home)
	defer st.Close()
	if now, err := st.Status(t.Context()); err != nil || len(now.Running) > 0 {
		t.Errorf("claimed: %+v, %v", now.Running, err)
	}
	s.env = append(s.env, "MEMOIR_MEMORIES_MAXROLLOUTSPERSTARTUP=3")
	s.succeeds(t, "a plan", "run", "--dry-run")    // a run then has no reasons to record before it claims
	defer lockedBy(t, s.home, "BEGIN EXCLUSIVE")() // which readers do not notice
	out := s.run(t, "", "run")
	if out.code != exitBusy || strings.Contains(out.stderr, "nothing to do") || strings.Count(out.stderr, "claim") != 1 {
		t.Errorf("a run that could not claim: %d:\n%s", out.code, out.stderr)
	}
}

func TestAnInterruptEndsTheWaitForALockedDatabase(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	defer lockedBy(t, s.home, exclusively)()
	code, out := s.whileWaiting(t, func(cmd *exec.Cmd) { must(t, cmd.Process.Signal(os.Interrupt)) }, "run")
	if code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestInjectSaysNothingOfALockedDatabase(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	defer lockedBy(t, s.home, exclusively)()
	cmd := s.command("", "inject", "--agent", "claude")
	cmd.Env = append(cmd.Env, "MEMOIR_MEMORIES_ENABLED=true")
	cmd.Dir = t.TempDir() // outside all projects, so that the registry is read
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"SessionStart","cwd":"/nowhere/at/all"}`)
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// A lock between any two transactions of a run, held for longer than the run's leases, only delays the run.
func TestALockInTheMiddleOfARunLosesNothing(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before the preparation
	x := newTorture(t, few(t, len(fewNames)), "")
	x.undisturbed(t)
	x.env = []string{"MEMOIR_MEMORIES_PHASE1_LEASE_SECONDS=2", "MEMOIR_MEMORIES_PHASE2LEASESECONDS=2", "MEMOIR_MEMORIES_HEARTBEATSECONDS=1"}
	x.each(t, "locked", 10, func(try trial, n int, what string) int {
		home := try.home
		cmd, errs, status := try.stopAt(t, fmt.Sprint(n))
		if !status.Stopped() {
			if status.ExitStatus() != exitDone { // claims vary, so the run may have fewer moments
				t.Errorf("%s: did not stop: %s", what, errs)
			}
			return 0
		}
		db, err := sql.Open("sqlite3", filepath.Join(home, databaseName)+"?_busy_timeout=0")
		must(t, err)
		db.SetMaxOpenConns(1)
		_, locked := db.Exec("BEGIN IMMEDIATE") // fails if the run itself is writing
		must(t, cmd.Process.Signal(syscall.SIGCONT))
		if locked == nil {
			time.Sleep(2500 * time.Millisecond) // longer than the lease
			_, _ = db.Exec("ROLLBACK")
		}
		db.Close()
		if err := cmd.Wait(); err != nil {
			// The leases may have expired. The next run then repeats the work.
			if code := cmd.ProcessState.ExitCode(); code != exitBusy && code != exitPartly {
				t.Errorf("%s: %v: %s", what, err, errs.String())
			}
		}
		if strings.Contains(errs.String(), "goroutine ") {
			t.Errorf("%s: %s", what, errs.String())
		}
		try.succeeds(t, what+": the next run")
		got := stateOf(t, home)
		if diff := cmp.Diff(x.ends[0].Rows["extraction"], got.Rows["extraction"]); diff != "" {
			t.Errorf("%s: extractions differ:\n%s", what, diff)
		}
		if diff := cmp.Diff(x.last, lastOf(t, home)); diff != "" {
			t.Errorf("%s: the memory differs:\n%s", what, diff)
		}
		return 0
	})
}

func TestAProjectThatAnotherProcessHoldsIsExitCode4(t *testing.T) {
	t.Parallel()
	try := newTorture(t, few(t, len(fewNames)), "").trial(t)
	run := func(want int, args ...string) string {
		t.Helper()
		out := try.run(t, "", args...)
		if out.code != want {
			t.Fatalf("%s: exit code %d, want %d\n%s", args, out.code, want, out.stderr)
		}
		return out.stderr
	}
	run(exitDone, "run", "-q", "--dry-run")
	st := openStore(t, try.home)
	defer st.Close()
	project, err := st.FindProject(t.Context(), testdata.Papertrail)
	must(t, err)
	must(t, st.Enqueue(t.Context(), project.ID))
	claim, ok, err := st.ClaimProject(t.Context(), project.ID, store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Hour})
	if err != nil || !ok {
		t.Fatalf("claim: %v, %v", ok, err)
	}
	said := run(exitBusy, "run")
	for _, want := range []string{"memoir: papertrail: busy: ", lease.Self().Describe(), "memoir: hint: --wait 5m waits", " has held the project since ", "memoir: lanternd: published generation 1"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q was not said:\n%s", want, said)
		}
	}
	if said := run(exitBusy, "run", "--wait", "0.05s"); !strings.Contains(said, "hint: it is still busy") {
		t.Errorf("after waiting, run says\n%s", said)
	}
	run(exitBusy, "run", "--json")
	if said := run(exitBusy, "restore", "1", "--project", testdata.Papertrail, "--wait", "0.05s"); !strings.Contains(said, lease.Self().Describe()) ||
		!strings.Contains(said, "hint: the other process is still busy") {
		t.Errorf("restore does not say who holds it:\n%s", said)
	}
	must(t, st.Release(t.Context(), claim))
	if said := run(exitDone, "run"); !strings.Contains(said, "papertrail: published generation 1") {
		t.Errorf("not published after the lease was free:\n%s", said)
	}
}
