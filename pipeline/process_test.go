package pipeline_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir/store"
)

func TestThreeRunsAtOnceEndAsOneAlone(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	enlarge(t, dir, 4)
	alone, shared := t.TempDir(), t.TempDir()
	run(t, options(alone, dir))

	var cmds []*exec.Cmd
	var outputs [3]bytes.Buffer
	for i := range 3 {
		cmd := process(t, shared, dir)
		cmd.Stderr = &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for i, cmd := range cmds {
		if code := exitCode(cmd.Wait()); code != 0 && code != 4 {
			t.Errorf("exit code %d: %s", code, outputs[i].String())
		}
	}
	if diff := cmp.Diff(tree(t, alone), tree(t, shared)); diff != "" {
		t.Errorf("three runs at once ended otherwise than one alone:\n%s", diff)
	}
	if again := run(t, options(shared, dir)); again.Phase1.Claimed != 0 || len(again.Phase2) != 0 {
		t.Errorf("something was left over: %+v", again)
	}
}

func TestAKilledRunIsFinishedAtOnceByTheNext(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	enlarge(t, dir, 4)
	undisturbed := t.TempDir()
	whole := run(t, options(undisturbed, dir))
	want := tree(t, undisturbed)

	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		home := t.TempDir()
		stored := 0
		cmd := process(t, home, dir)
		killedAfter(t, cmd, time.Duration(random.IntN(250))*time.Millisecond)

		st := open(t, home)
		status, err := st.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := st.Sessions(t.Context(), store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		st.Close()
		stored = status.Jobs["done"]

		report := run(t, options(home, dir))
		if diff := cmp.Diff(want, tree(t, home)); diff != "" {
			t.Errorf("killed with %d of %d jobs done: the memory differs:\n%s", stored, len(sessions), diff)
		}
		if p := report.Phase1; p.Claimed > whole.Phase1.Claimed || stored > 0 && p.Claimed >= whole.Phase1.Claimed && p.Failed == 0 && stored > len(whole.Phase2) {
			t.Errorf("%d jobs were done, %d claimed again", stored, p.Claimed)
		}
	}
}

// killedAfter starts a process and kills it after a while, in which it may have ended. The
// moment of death is anywhere in its work: no outcome of a test may depend on it.
func killedAfter(t *testing.T, cmd *exec.Cmd, while time.Duration) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(while)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Logf("already done: %v", err)
	}
	_ = cmd.Wait()
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
