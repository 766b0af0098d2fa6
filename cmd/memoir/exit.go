package main

import (
	"context"
	"errors"

	"memoir"
)

// The exit codes; they are part of the interface, and `memoir help` lists them.
const (
	exitDone        = 0   // also when there was nothing to do
	exitFailed      = 1   // also when `scan` found something
	exitUsage       = 2   // bad usage or configuration
	exitPartly      = 3   // a claimed job failed, or a spending limit stopped the run
	exitBusy        = 4   // another process holds the lease
	exitInterrupted = 130 // by a signal or --timeout
)

// status ends a command with an exit code after everything has been said.
type status int

// Error says nothing that a person needs: all has been said.
func (s status) Error() string { return "exit" }

// exitCode returns the exit code that err stands for.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	switch memoir.CodeOf(err) {
	case memoir.CodeUsage, memoir.CodeConfig:
		return exitUsage
	case memoir.CodeBusy:
		return exitBusy
	case memoir.CodeInterrupted:
		return exitInterrupted
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return exitInterrupted
	}
	return exitFailed
}
