//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize has c told when the terminal has another size.
func onResize(c chan os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
