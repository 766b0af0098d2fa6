package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"memoir"
)

// TestAnInterruptEndsACommandThatWaits starts a command that waits for input
// which never comes.
func TestAnInterruptEndsACommandThatWaits(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no signals between processes")
	}
	for _, args := range [][]string{{"redact"}, {"scan", "-"}} {
		cmd := exec.Command(released(t), append(args, "--home", filepath.Join(t.TempDir(), "home"))...)
		stdin, err := cmd.StdinPipe()
		must(t, err)
		stderr := new(strings.Builder)
		cmd.Stderr = stderr
		must(t, cmd.Start())
		// Larger than a pipe holds: when it is written, the command is reading.
		if _, err := io.WriteString(stdin, strings.Repeat("text\n", 100_000)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		must(t, cmd.Process.Signal(os.Interrupt))
		err = cmd.Wait()
		stdin.Close()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != exitInterrupted {
			t.Errorf("%s: %v", args, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: took %s", args, took)
		}
		if !strings.Contains(stderr.String(), "memoir: error: interrupted by signal: interrupt") {
			t.Errorf("%s: said %q", args, stderr)
		}
	}
}

func TestASecondSignalEndsAtOnceButTheEchoOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		signals, done := make(chan os.Signal), make(chan struct{})
		exited := 0
		go handleSignals(signals, done, cancel, func(code int) {
			if code != exitInterrupted {
				t.Errorf("exit code %d", code)
			}
			exited++
		})
		for _, step := range []struct {
			after  time.Duration
			signal os.Signal
			exited int
		}{{0, os.Interrupt, 0}, {0, os.Interrupt, 0}, {signalEcho, syscall.SIGTERM, 0}, {time.Millisecond, os.Interrupt, 1}} {
			time.Sleep(step.after)
			signals <- step.signal
			synctest.Wait()
			if cause := context.Cause(ctx); exited != step.exited || memoir.CodeOf(cause) != memoir.CodeInterrupted || !strings.Contains(cause.Error(), "interrupted by signal: interrupt") {
				t.Errorf("%v after %s: %d exits, %v", step.signal, step.after, exited, cause)
			}
		}
		close(done)
	})
}
