package main

import (
	"os"
	"syscall"
	"time"

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

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var created, ended, kernel, user windows.Filetime // in units of 100 ns
	_ = windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user)
	units := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 + int64(t.LowDateTime) }
	return time.Duration(100 * (units(kernel) + units(user)))
}
