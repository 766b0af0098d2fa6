//go:build unix

package store

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked")

// lockFolder locks a folder against other processes; errLocked if one has it locked.
func lockFolder(dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, err
	}
	return f.Close, nil
}

// The bytes that SQLite locks: https://www.sqlite.org/fileformat2.html, "The lock-byte page".
const (
	firstLocked = 0x40000000
	lockedBytes = 512
)

// lockDatabase takes the lock that keeps other processes from reading, writing or opening a database;
// errLocked if one has it open. Closing any other descriptor of the file in this process would release
// the lock.
func lockDatabase(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: firstLocked, Len: lockedBytes}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock); err != nil {
		f.Close()
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
			err = errLocked
		}
		return nil, err
	}
	return f.Close, nil
}
