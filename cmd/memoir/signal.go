package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"memoir"
)

// echo is how long after a signal another one says the same again: a terminal sends one to
// every process of a group, and a wrapper (npm, make, a shell's trap) sends its own on.
const echo = 300 * time.Millisecond

// untilSignal returns a context that SIGINT, SIGTERM or a hangup cancels with
// memoir.CodeInterrupted as its cause. A second signal, later than its echo, calls
// exit at once.
//
// A closed pipe at stdout or stderr must not kill a run that holds jobs, so
// SIGPIPE is taken and dropped: writes then fail with EPIPE. It is not ignored,
// because children would inherit that.
func untilSignal(parent context.Context, exit func(code int)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go heed(signals, done, cancel, exit)
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// heed calls cancel at a signal, and exit at one that comes later than its echo.
func heed(signals <-chan os.Signal, done <-chan struct{}, cancel context.CancelCauseFunc, exit func(code int)) {
	var first time.Time
	for {
		select {
		case <-done:
			return
		case s := <-signals:
			if first.IsZero() {
				first = time.Now()
			} else if time.Since(first) > echo {
				exit(exitInterrupted)
			}
			cancel(memoir.Errorf(memoir.CodeInterrupted, "", "interrupted by signal: %s", s))
		}
	}
}
