// Package failpoint has failpoints before and after each write of the program, where a test can
// kill the process or make the disk full. They exist only in a program that was built with the
// tag failpoint; in any other, the functions have no effect and no cost.
//
// The variable FAILPOINT sets the action:
//
//	log FILE         append each failpoint to FILE, one per line: process, name, caller
//	kill N [group]   kill the process, or its process group, at the Nth failpoint,
//	                 counted from 1
//	interrupt N [group]
//	                 send SIGINT to the process, or to its group, at the Nth failpoint and continue
//	terminate N [group]
//	                 the same with SIGTERM
//	fail N [COUNT]   let COUNT writes from the Nth on fail with ENOSPC (0: all of them)
//	stop N, stop NAME
//	                 stop the process (SIGSTOP) at the Nth failpoint, or at the first one
//	                 whose name in the log begins with NAME, since heartbeats shift numbers
//
// The variable FAILPOINT_CLOCK names a file with a duration, such as -24h, by which the wall
// clock of the program is shifted. The file is read at each use of the clock.
//
// The order of failpoints is deterministic only if one worker writes.
package failpoint

import (
	"io/fs"
	"os"
)

// The functions below, Remove and RemoveAll are those of package os, with a failpoint
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

// MkdirAll is os.MkdirAll, without a failpoint for an existing directory.
func MkdirAll(path string, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := Before("mkdir"); err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return os.MkdirAll(path, mode)
}

// WriteFile is os.WriteFile, with a further failpoint when half of the file is written.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	if err := Before("write"); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return writeFile(path, content, mode)
}
