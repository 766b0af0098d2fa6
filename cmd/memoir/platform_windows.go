package main

import (
	"os"
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

// readable is true of files only: what a pipe has is unknown without a read, which may wait.
func readable(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
