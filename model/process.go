package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// stopTime is the time that a program has to end after a signal: a person who interrupts a run
// waits for it.
const stopTime = 500 * time.Millisecond

type printed struct {
	begun  bool // it was started
	stdout []byte
	stderr string // its end
	status int    // 0: it succeeded; -1: a signal ended it, as stderr says
}

var errOutputTooLong = fmt.Errorf("it printed more than %d MiB", maxAnswer>>20)

type start struct {
	command []string // the program and its arguments
	dir     string
	env     []string
	stdin   string
}

// run runs a program and returns its output. If ctx ends first, or the output is too long, the
// process group is asked to end, and killed after stopTime. On Windows only the program itself
// is ended.
func run(ctx context.Context, s start) (printed, error) {
	runtime.LockOSThread() // the program ends with the thread that started it
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdin = strings.NewReader(s.stdin)
	stdout, stderr := &bounded{full: func() { cancel(errOutputTooLong) }}, &ending{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	own(cmd)
	cmd.Cancel = func() error { return terminate(cmd) }
	cmd.WaitDelay = stopTime // also for children that keep the output open
	if err := cmd.Start(); err != nil {
		return printed{}, err
	}
	err := cmd.Wait()
	killAll(cmd)
	out := printed{begun: true, stdout: stdout.kept, stderr: strings.TrimSpace(string(stderr.kept))}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if out.status = exit.ExitCode(); out.status < 0 {
			out.stderr = strings.TrimSpace(out.stderr + " " + exit.Error())
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return out, err
	}
	return out, nil
}

// bounded is a buffer of at most maxAnswer bytes.
type bounded struct {
	kept []byte
	full func()
}

// Write writes all of p, or nothing: beyond the bound it calls full and fails with
// errOutputTooLong.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.kept)+len(p) > maxAnswer {
		b.full()
		return 0, errOutputTooLong
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}

// ending keeps the end of the text that is written to it.
type ending struct{ kept []byte }

// Write never fails. It keeps the last 4*maxMessage bytes, without the word that is cut at
// their beginning: the rest of a secret would not be recognised.
func (e *ending) Write(p []byte) (int, error) {
	e.kept = append(e.kept, p...)
	if over := len(e.kept) - 4*maxMessage; over > 0 {
		over += max(bytes.IndexAny(e.kept[over:], " \t\r\n"), 0)
		e.kept = append([]byte(nil), e.kept[over:]...)
	}
	return len(p), nil
}
