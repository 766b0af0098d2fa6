//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// inGroup makes a run in a process group of its own, and waits until nothing that it
// started is left.
func (try trial) inGroup(t *testing.T, failpoint string) (output, error) {
	t.Helper()
	cmd := try.command(failpoint)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, ours, err := os.Pipe() // ours is open for as long as any of them lives
	must(t, err)
	defer alive.Close()
	cmd.ExtraFiles = []*os.File{ours}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	must(t, cmd.Start())
	must(t, ours.Close())
	ended := cmd.Wait()
	_, err = io.Copy(io.Discard, alive)
	must(t, err)
	return output{out.String(), errs.String()}, ended
}

// interrupted checks what an interrupted run leaves: nothing that is running, and nothing
// that counts against a session or a project.
func (try trial) interrupted(t *testing.T, out output, err error, what string) {
	t.Helper()
	if codeOf(t, err) != exitInterrupted || !strings.Contains(out.stderr, "memoir: error: ") || !strings.Contains(out.stderr, "interrupted by signal: ") {
		t.Errorf("%s: %v: %s", what, err, out.stderr)
	}
	blameless(t, try.home, what)
}

func TestARunThatIsInterruptedAtAnyMomentGivesBackAndIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before anything is prepared
	for name, asks := range map[string]asking{"built-in": nil, "model": byExec{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTorture(t, few(t, len(fewNames)), "")
			x.asks = asks
			x.undisturbed(t)
			x.each(t, "interrupt", 16, func(try trial, n int, what string) int {
				signal := []string{"interrupt", "terminate"}[n/2%2]
				whom := []string{"", " group"}[n%2]
				what = fmt.Sprintf("%s%s at %s", signal, whom, what)
				out, err := try.inGroup(t, fmt.Sprintf("%s %d%s", signal, n, whom))
				if err != nil { // else the signal came with the last step
					try.interrupted(t, out, err, what)
				}
				return try.finish(t, what)
			})
		})
	}
}
