//go:build !windows

package main

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownerOf is the user that a file belongs to.
func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

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
