//go:build unix

package memory_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
)

// childTask names what a copy of the test binary does instead of testing: it is
// how real processes are killed, and given little disk or few files.
const childTask = "MEMORY_TEST_CHILD"

func TestMain(m *testing.M) {
	if task := os.Getenv(childTask); task != "" {
		if err := children[task](os.Getenv("MEMORY_TEST_HOME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killAt is the step before which a child kills itself: its name, or its number
// counted from 1.
const killAt = "MEMORY_TEST_KILL_AT"

// children are the tasks of a copy of the test binary, with the home to work on.
var children = map[string]func(home string) error{
	"publish":      publishChild,
	"recover":      recoverChild,
	"little disk":  littleDiskChild,
	"few handles":  fewHandlesChild,
	"count steps":  countChild,
	"full disk":    fullDiskChild,
	"count repair": countRecoverChild,
}

func killer() func(string) error {
	at, step := os.Getenv(killAt), 0
	return func(name string) error {
		if step++; name == at || strconv.Itoa(step) == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
}

// publishChild goes from generation 2 to 3 and prunes.
func publishChild(home string) error {
	r := memory.At(home, project).WithHook(killer())
	if err := stageAndSwap(context.Background(), r, 3); err != nil {
		return err
	}
	_, err := r.Prune(2, time.Time{})
	return err
}

func recoverChild(home string) error {
	_, err := memory.At(home, project).WithHook(killer()).Recover(2)
	return err
}

func counting(do func(memory.Root) error) func(string) error {
	return func(home string) error {
		steps := 0
		err := do(memory.At(home, project).WithHook(func(string) error { steps++; return nil }))
		fmt.Println(steps)
		return err
	}
}

func countChild(home string) error {
	return counting(func(r memory.Root) error {
		if err := stageAndSwap(context.Background(), r, 3); err != nil {
			return err
		}
		_, err := r.Prune(2, time.Time{})
		return err
	})(home)
}

func countRecoverChild(home string) error {
	return counting(func(r memory.Root) error { _, err := r.Recover(2); return err })(home)
}

// child runs a task in a process of its own.
func child(t *testing.T, task, home string, env ...string) (stdout string, err error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), append(env, childTask+"="+task, "MEMORY_TEST_HOME="+home)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if err != nil && errs.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return strings.TrimSpace(out.String()), err
}

// twoGenerations is a home with generations 1 and 2.
func twoGenerations(t *testing.T) (string, memory.Root) {
	t.Helper()
	home := quickDir(t)
	r := memory.At(home, project)
	publish(t, r, 1, generation(1))
	publish(t, r, 2, generation(2))
	return home, r
}

func countSteps(t *testing.T, task, home string) int {
	t.Helper()
	out, err := child(t, task, home)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := strconv.Atoi(out)
	if err != nil || steps < 1 {
		t.Fatalf("%q steps, %v", out, err)
	}
	return steps
}

// The process is killed before each write of a publication. Afterwards the live
// memory is one whole generation or the other, recovery leaves nothing of the
// dead process, and publishing once more gives what an undisturbed run gives.
func TestKilledAtEachWriteOfAPublication(t *testing.T) {
	t.Parallel()
	undisturbedHome, undisturbed := twoGenerations(t)
	steps := countSteps(t, "count steps", undisturbedHome)
	if steps < 30 {
		t.Fatalf("only %d steps", steps)
	}
	want := names(t, undisturbed)
	for at := 1; at <= steps; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			home, r := twoGenerations(t)
			if _, err := child(t, "publish", home, fmt.Sprintf("%s=%d", killAt, at)); err == nil {
				t.Fatal("the process was not killed")
			}
			snap := current(t, r)
			if n := snap.Generation; n != 2 && n != 3 || !snap.Files.Equal(generation(n)) || len(snap.Edited) > 0 {
				t.Fatalf("generation %d is not whole", n)
			}
			recovered, err := r.Recover(2)
			if err != nil {
				t.Fatal(err)
			}
			if recovered.Linked != snap.Generation || recovered.Rebuilt {
				t.Errorf("recovery moved the link from %d: %+v", snap.Generation, recovered)
			}
			if ahead := recovered.Ahead != nil; ahead != (snap.Generation == 3) {
				t.Errorf("generation %d is live and 2 recorded, but ahead is %v", snap.Generation, ahead)
			}
			if again, err := r.Recover(2); err != nil || len(again.Removed) > 0 {
				t.Errorf("a second recovery removes %v, %v", again.Removed, err)
			}
			if recovered.Next != snap.Generation+1 {
				t.Errorf("the next generation is %d", recovered.Next)
			}
			if snap.Generation == 2 {
				publish(t, r, 3, generation(3))
			}
			if _, err := r.Prune(2, time.Time{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, names(t, r)); diff != "" {
				t.Errorf("not what an undisturbed run leaves:\n%s", diff)
			}
		})
	}
}

// Recovery is killed too, before each of its own writes.
func TestKilledAtEachWriteOfARecovery(t *testing.T) {
	t.Parallel()
	debris := func() (string, memory.Root) {
		home, r := twoGenerations(t)
		if _, err := child(t, "publish", home, killAt+"=replace link"); err == nil {
			t.Fatal("the process was not killed")
		}
		return home, r
	}
	home, _ := debris()
	steps := countSteps(t, "count repair", home)
	for at := 1; at <= steps; at++ {
		home, r := debris()
		if _, err := child(t, "recover", home, fmt.Sprintf("%s=%d", killAt, at)); err == nil {
			t.Fatal("the process was not killed")
		}
		if snap := current(t, r); snap.Generation != 2 || !snap.Files.Equal(generation(2)) {
			t.Errorf("killed at %d: generation %d is live", at, snap.Generation)
		}
		if _, err := r.Recover(2); err != nil {
			t.Errorf("killed at %d: %v", at, err)
		}
		want := []string{".", "generations", "generations/1.tar.zst", "generations/2.tar.zst", "live", "live/1", "live/2"}
		var got []string
		for _, name := range names(t, r) {
			if strings.Count(name, "/") < 2 && name != "memory" {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed at %d:\n%s", at, diff)
		}
	}
}

// Each write fails in turn, as on a full disk, and the process goes on.
func TestEachWriteOfAStagingMayFail(t *testing.T) {
	t.Parallel()
	failAt := func(r memory.Root, at int) (memory.Root, *int) {
		step := 0
		return r.WithHook(func(string) error {
			if step++; step == at {
				return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
			}
			return nil
		}), &step
	}
	_, r := twoGenerations(t)
	before := names(t, r)
	for at := 1; ; at++ {
		failing, step := failAt(r, at)
		err := failing.Stage(t.Context(), 3, generation(3), manifest(3))
		if err == nil {
			if *step >= at {
				t.Errorf("step %d failed and staging did not", at)
			}
			if at < 25 {
				t.Errorf("staging has only %d steps", at-1)
			}
			return
		}
		if memoir.CodeOf(err) != memoir.CodeStorage || !strings.Contains(memoir.HintOf(err), "free some disk space") {
			t.Errorf("step %d: %v (hint %q)", at, err, memoir.HintOf(err))
		}
		if diff := cmp.Diff(before, names(t, r)); diff != "" {
			t.Errorf("step %d leaves something:\n%s", at, diff)
		}
	}
}

func TestEachStepOfASwapMayFail(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		_, r := twoGenerations(t)
		step := 0
		if err := r.Stage(t.Context(), 3, generation(3), manifest(3)); err != nil {
			t.Fatal(err)
		}
		err := r.WithHook(func(string) error {
			if step++; step == at {
				return syscall.EROFS
			}
			return nil
		}).Swap(3)
		if err == nil {
			if at < 6 {
				t.Errorf("a swap has only %d steps", at-1)
			}
			return
		}
		if memoir.CodeOf(err) != memoir.CodeStorage {
			t.Errorf("step %d: %v", at, err)
		}
		snap := current(t, r)
		if !snap.Files.Equal(generation(snap.Generation)) || snap.Generation < 2 {
			t.Errorf("step %d: generation %d is not whole", at, snap.Generation)
		}
		// The same process tries again.
		if err := r.Discard(3); err != nil {
			t.Error(err)
		}
		if snap.Generation == 2 {
			publish(t, r, 3, generation(3))
		}
		if recovered, err := r.Recover(3); err != nil || recovered.Linked != 3 || recovered.Ahead != nil {
			t.Errorf("step %d: %+v, %v", at, recovered, err)
		}
		if !current(t, r).Files.Equal(generation(3)) {
			t.Errorf("step %d: generation 3 is not live after a second try", at)
		}
	}
}
