//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"
)

// A run that is killed at any time, between writes or within one.
func TestARunThatIsKilledAtAnyTimeIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	times := by(t, 6, 120, 1000)
	x := newTorture(t, few(t, 7), "")
	x.undisturbed(t)
	x.flushesBeforeItPublishes(t)
	calm := x.trial(t)
	began := time.Now()
	calm.succeeds(t, "undisturbed")
	lasts := time.Since(began)
	calm.remove()
	random := chance(t, "kill")
	at := make([]time.Duration, times)
	for i := range at {
		at[i] = time.Duration(random.Int64N(int64(lasts)))
	}
	x.trials(t, times, func(try trial, k int) {
		cmd := try.command("")
		must(t, cmd.Start())
		time.Sleep(at[k]) // the moment of death is anywhere in the run
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		try.finish(t, "killed after "+at[k].String())
	})
}
