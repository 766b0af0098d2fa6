//go:build !windows

package main

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// writable returns an error if this process cannot change a directory. It writes nothing.
func writable(dir string) error { return unix.Access(dir, unix.W_OK) }

// detached starts a process in a session of its own: no signal to the caller's
// process group or terminal reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// readable reports whether a read of a file returns at once, also with its end.
func readable(f *os.File) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, 0)
	return n > 0 && err == nil
}

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
