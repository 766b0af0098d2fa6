package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// writable is unknown without a write.
func writable(string) error { return nil }

// detached starts a process without the caller's console, outside its job.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_BREAKAWAY_FROM_JOB,
		HideWindow:    true,
	}
}
