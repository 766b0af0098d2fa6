package isolate

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"memoir"
)

const (
	// stopWithin is how long a worker that is asked to stop may take before it is killed.
	stopWithin = 900 * time.Millisecond
	// killedTogether is how long a death by SIGKILL is not believed to be the worker's own:
	// who kills all of a group, a session or a container has killed the watcher by then.
	killedTogether = 100 * time.Millisecond
	// drainWithin is how long the pipes of an ended worker may stay open, in the hands of
	// something that it started.
	drainWithin = 200 * time.Millisecond
)

// ErrInterrupted is the error of a worker that somebody else asked to end: by SIGINT,
// SIGTERM or a hangup. It says nothing about the work.
var ErrInterrupted = errors.New("the process that worked on it was interrupted")

// Command is how a program starts itself as a worker. The zero Command starts nothing.
type Command struct {
	Path string   // of the program; Self as a rule
	Args []string // the first is the program's name
	Env  []string // as of os.Environ
}

// Unstarted is the error of a worker that did not come to its work: it could not be
// started, or could not prepare for it.
type Unstarted struct{ Err error }

// Error says that there is no process, and why.
func (u *Unstarted) Error() string { return "no process of its own: " + u.Err.Error() }

// Unwrap is what kept the process from its work.
func (u *Unstarted) Unwrap() error { return u.Err }

// Set reports whether the command starts anything.
func (c Command) Set() bool { return c.Path != "" }

// Self is the path of the running program, also after another was put in its place
// where the system allows that to be told.
func Self() (string, error) {
	if runtime.GOOS == "linux" {
		const self = "/proc/self/exe"
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return os.Executable()
}

// A frame is what a worker says.
type frame struct {
	Begun   bool
	Answer  []byte
	Refusal *refusal
}

// refusal is an error that keeps a worker from beginning.
type refusal struct {
	Code          memoir.Code
	Message, Hint string
}

// Run starts a worker, gives it a task and returns its answer. When ctx ends the worker
// is asked to stop, and killed if it has not ended within stopWithin; an answer that it
// gave all the same is returned. Errors are *Unstarted, *Death, ErrInterrupted or the
// cause of ctx.
func (c Command) Run(ctx context.Context, task []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	cmd := &exec.Cmd{Path: c.Path, Args: c.Args, Env: c.Env, WaitDelay: drainWithin}
	said := &said{}
	cmd.Stderr = said
	heard, out := io.Pipe()
	cmd.Stdout = out
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, &Unstarted{err}
	}
	killed := oomKills()
	if err := cmd.Start(); err != nil {
		return nil, &Unstarted{err}
	}
	go func() { _ = gob.NewEncoder(in).Encode(task) }() // one that died meanwhile reads nothing
	listened := make(chan frame, 1)
	go func() { listened <- listen(heard) }()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	select {
	case <-ended:
	case <-ctx.Done():
		_ = in.Close()
		timer := time.NewTimer(stopWithin)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C:
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	_ = out.Close()
	got := <-listened
	switch {
	case got.Answer != nil:
		return got.Answer, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case interrupted(cmd.ProcessState):
		return nil, ErrInterrupted
	case got.Refusal != nil:
		return nil, &Unstarted{memoir.Errorf(got.Refusal.Code, got.Refusal.Hint, "%s", got.Refusal.Message)}
	}
	if wasKilled(cmd.ProcessState) {
		select {
		case <-time.After(killedTogether):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	death := &Death{State: state(cmd.ProcessState), Said: said.telling(), OutOfMemory: said.outOfMemory() ||
		wasKilled(cmd.ProcessState) && oomKills() > killed}
	if !got.Begun {
		return nil, &Unstarted{fmt.Errorf("it ended before it began: %w", death)}
	}
	return nil, death
}

// listen reads what a worker says up to its end, and returns all of it in one frame.
func listen(r *io.PipeReader) (all frame) {
	dec := gob.NewDecoder(r)
	for {
		var f frame
		if err := dec.Decode(&f); err != nil {
			_, _ = io.Copy(io.Discard, r)
			return all
		}
		all.Begun = all.Begun || f.Begun
		if f.Answer != nil {
			all.Answer = f.Answer
		}
		if f.Refusal != nil {
			all.Refusal = f.Refusal
		}
	}
}

// Encode and Decode are how tasks and answers become bytes: every text stays as it is,
// whatever its encoding. An error says that the value is of a type that gob does not take.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

// Decode is the inverse of Encode; v is a pointer. Bytes of another type or program are an
// error.
func Decode(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }
