package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"memoir"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{memoir.Errorf(memoir.CodeNotFound, "", "no such session"), 1},
		{memoir.Errorf(memoir.CodeCorrupt, "", "damaged"), 1},
		{memoir.Errorf(memoir.CodeUsage, "", "unknown flag"), 2},
		{fmt.Errorf("load: %w", memoir.Errorf(memoir.CodeConfig, "", "out of range")), 2},
		{status(3), 3},
		{memoir.Errorf(memoir.CodeBusy, "", "held by another"), 4},
		{memoir.Errorf(memoir.CodeInterrupted, "", "interrupted"), 130},
		{fmt.Errorf("read: %w", context.Canceled), 130},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%v: exit code %d, want %d", test.err, got, test.want)
		}
	}
}

// codeOf is the exit code of a process that ended with err: -1 if a signal ended it. It may
// be called from any goroutine: a process that could not be run fails the test, with -2.
func codeOf(t testing.TB, err error) int {
	t.Helper()
	if err == nil {
		return exitDone
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Error(err)
		return -2
	}
	return exit.ExitCode()
}
