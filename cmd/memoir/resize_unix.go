//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize has c told when the terminal has another size.
func onResize(c chan os.Signal) { signal.Notify(c, syscall.SIGWINCH) }

// onResume has c told when the process goes on after it was stopped.
func onResume(c chan os.Signal) { signal.Notify(c, syscall.SIGCONT) }

// stopSelf stops the processes that the terminal's key would stop, this one among them.
func stopSelf() { _ = syscall.Kill(0, syscall.SIGTSTP) }
