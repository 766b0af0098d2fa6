//go:build !windows

package main

import "syscall"

// detached starts a process in a session of its own: no signal to the caller's
// process group or terminal reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
