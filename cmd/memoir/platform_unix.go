//go:build !windows

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// writable returns an error if this process cannot change a directory. It writes nothing.
func writable(dir string) error { return unix.Access(dir, unix.W_OK) }

// detached starts a process in a session of its own: no signal to the caller's
// process group or terminal reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
