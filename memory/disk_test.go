//go:build unix

package memory_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memoir"
	"memoir/memory"
)

// childTask is the variable for the task of a copy of the test binary: real processes with limits on disk or files.
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

// children are the tasks of a copy of the test binary, with the home to work on.
var children = map[string]func(home string) error{
	"little disk": littleDiskChild,
	"few handles": fewHandlesChild,
	"full disk":   fullDiskChild,
}

// child runs a task in a process of its own.
func child(t *testing.T, task, home string) error {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childTask+"="+task, "MEMORY_TEST_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// refused runs a publication that must fail because of the disk, and reports a wrong error.
func refused(home, wantHint string) error {
	err := stageAndSwap(context.Background(), memory.At(home, project), 3, generation(3))
	if memoir.CodeOf(err) != memoir.CodeStorage {
		return fmt.Errorf("got %v (%s), want a storage error", err, memoir.CodeOf(err))
	}
	if hint := memoir.HintOf(err); !strings.Contains(hint, wantHint) {
		return fmt.Errorf("the hint of %w is %q, want %q", err, hint, wantHint)
	}
	return nil
}

// littleDiskChild may write no file above 64 bytes.
func littleDiskChild(home string) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		return err
	}
	return refused(home, "free some disk space")
}

func fewHandlesChild(home string) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 9, Max: 9}); err != nil {
		return err
	}
	return refused(home, "ulimit -n")
}

func fullDiskChild(home string) error { return refused(home, "free some disk space") }

// unharmed checks that generation 2 is complete and no other file is left.
func unharmed(t *testing.T, r memory.Root, before []string) {
	t.Helper()
	if snap := current(t, r); snap.Generation != 2 || !snap.Files.Equal(generation(2)) || len(snap.Edited) > 0 {
		t.Errorf("generation %d is live, edits %v", snap.Generation, snap.Edited)
	}
	if after := names(t, r); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("left behind: %v, before %v", after, before)
	}
}

func TestTheEarlierMemoryOutlivesALackOf(t *testing.T) {
	t.Parallel()
	for _, lack := range []string{"little disk", "few handles"} {
		t.Run(lack, func(t *testing.T) {
			t.Parallel()
			home, r := twoGenerations(t)
			before := names(t, r)
			must(t, child(t, lack, home))
			// Without a file handle, nothing can be removed either: the next start does it.
			if _, err := r.Recover(2); err != nil {
				t.Error(err)
			}
			unharmed(t, r, before)
		})
	}
}

func TestSomethingElseStandsWhereMemoirWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"live", "generations"} {
		r := memory.At(t.TempDir(), project)
		must(t, os.MkdirAll(r.Dir(), 0o700))
		must(t, os.WriteFile(filepath.Join(r.Dir(), name), []byte("mine"), 0o600))
		err := r.Stage(t.Context(), 1, generation(1), manifest(1))
		if memoir.CodeOf(err) != memoir.CodeStorage || !strings.Contains(memoir.HintOf(err), "move it away") {
			t.Errorf("a file %s: %v (hint %q)", name, err, memoir.HintOf(err))
		}
		if content, err := os.ReadFile(filepath.Join(r.Dir(), name)); err != nil || string(content) != "mine" {
			t.Errorf("the file %s was touched: %q %v", name, content, err)
		}
	}
}

func TestADiskThatForbids(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("needs another user than root, to whom nothing is forbidden")
	}
	_, r := twoGenerations(t)
	live := filepath.Join(r.Dir(), "live")
	must(t, os.Chmod(live, 0o500))
	defer os.Chmod(live, 0o700)
	err := r.Stage(t.Context(), 3, generation(3), manifest(3))
	if memoir.CodeOf(err) != memoir.CodeStorage || !strings.Contains(memoir.HintOf(err), "permission") {
		t.Errorf("%v (hint %q)", err, memoir.HintOf(err))
	}
}
