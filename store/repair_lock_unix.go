//go:build unix

package store

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked")

// heldFiles are the databases that this process has locked. Closing any other
// descriptor of such a file would give its locks up, so it is read by this one.
var heldFiles sync.Map

func held(path string) *os.File {
	if f, ok := heldFiles.Load(path); ok {
		return f.(*os.File)
	}
	return nil
}

// The bytes that SQLite locks: https://www.sqlite.org/fileformat2.html, "The lock-byte page".
const (
	firstLocked = 0x40000000
	lockedBytes = 512
)

// lockDatabase takes the lock under which no connection of another process can read or
// write a database, or have it open.
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
	heldFiles.Store(path, f)
	return func() error {
		heldFiles.Delete(path)
		return f.Close()
	}, nil
}

// lockFolder keeps other repairs away, also where there is no database to be locked.
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
