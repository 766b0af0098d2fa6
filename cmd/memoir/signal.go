package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"memoir"
)

// untilSignal returns a context that SIGINT, SIGTERM or a hangup cancels with
// memoir.CodeInterrupted as its cause. A second signal calls exit at once.
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
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case s := <-signals:
				if n > 0 {
					exit(exitInterrupted)
				}
				cancel(memoir.Errorf(memoir.CodeInterrupted, "", "interrupted by signal: %s", s))
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
