//go:build !windows

package main

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// detached starts a process in a session of its own: no signal to the caller's
// process group or terminal reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// readOnlyPlace reports that nothing can be written where a directory is, whoever asks.
func readOnlyPlace(dir string) bool { return errors.Is(unix.Access(dir, unix.W_OK), unix.EROFS) }

// freeSpace is how many bytes there is room for in a directory.
func freeSpace(dir string) (bytes uint64, ok bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return uint64(st.Bavail) * uint64(st.Bsize), true
}
