// Package failpoint names the moments before and after each write of the program, so
// that a test can kill the process there, or let the disk be full. It does so only in
// a program that was built with the tag failpoint; in any other its functions do
// nothing and cost nothing.
//
// The variable FAILPOINT says what happens, to the program that was built so:
//
//	log FILE         each moment is added to FILE, one a line: process, name, on whose behalf
//	kill N [group]   the process kills itself, or its process group, at the Nth moment,
//	                 counted from 1
//	interrupt N [group]
//	                 the process sends itself SIGINT at the Nth moment, or its group, and goes on
//	terminate N [group]
//	                 the same with SIGTERM
//	fail N [COUNT]   the Nth write, and those after it up to COUNT in all (0: every
//	                 later one), find no room on the disk
//	stop N, stop NAME
//	                 the process stops itself (SIGSTOP) at the Nth moment, or at the first
//	                 one whose name in the log begins with NAME, as heartbeats shift numbers
//
// The variable FAILPOINT_CLOCK names a file with a duration, such as -24h: the wall clock
// of such a program is wrong by as much, from the moment that the file says so.
//
// The order of moments is the same for each run only where one worker writes.
package failpoint

import (
	"io/fs"
	"os"
)

// The functions below, Remove and RemoveAll are those of package os, with a moment
// before the write.

// Rename is os.Rename.
func Rename(from, to string) error {
	if err := Before("rename"); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return os.Rename(from, to)
}

// Symlink is os.Symlink.
func Symlink(to, path string) error {
	if err := Before("link"); err != nil {
		return &os.LinkError{Op: "symlink", Old: to, New: path, Err: err}
	}
	return os.Symlink(to, path)
}

// Mkdir is os.Mkdir.
func Mkdir(path string, mode fs.FileMode) error {
	if err := Before("mkdir"); err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return os.Mkdir(path, mode)
}

// MkdirAll is os.MkdirAll. A directory that is there is no write.
func MkdirAll(path string, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := Before("mkdir"); err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return os.MkdirAll(path, mode)
}

// WriteFile is os.WriteFile, with a moment when half of the file is written.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	if err := Before("write"); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return writeFile(path, content, mode)
}
