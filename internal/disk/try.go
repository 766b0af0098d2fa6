//go:build linux || darwin

package disk

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// try does in a folder of its own what a home needs, and says what the file system
// lacks; empty if it lacks nothing. An error says that it could not be tried.
func try(dir string) (lacks string, err error) {
	dir, err = os.MkdirTemp(dir, ".memoir-try-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	one, other, err := twice(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer one.Close()
	defer other.Close()
	if !locks(one, other) {
		return "locks that keep processes apart", nil
	}
	if !shares(one, other) {
		return "memory that processes share", nil
	}
	if !links(dir) {
		return "symbolic links that can be replaced", nil
	}
	return "", nil
}

// twice opens a new file of one page two times, as two processes would.
func twice(path string) (one, other *os.File, err error) {
	if one, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, nil, err
	}
	if err = one.Truncate(int64(os.Getpagesize())); err == nil {
		other, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, one.Close())
	}
	return one, other, nil
}

// shares reports whether what is written to a file's memory under one handle is seen
// under the other.
func shares(one, other *os.File) bool {
	size := os.Getpagesize()
	a, err := unix.Mmap(int(one.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	defer unix.Munmap(a)
	b, err := unix.Mmap(int(other.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	defer unix.Munmap(b)
	a[1], b[2] = 7, 9
	return a[2] == 9 && b[1] == 7
}

// links reports whether a symbolic link can be replaced by another one.
func links(dir string) bool {
	old, link := filepath.Join(dir, "old"), filepath.Join(dir, "link")
	if os.Symlink("a", link) != nil || os.Symlink("b", old) != nil || os.Rename(old, link) != nil {
		return false
	}
	to, err := os.Readlink(link)
	return err == nil && to == "b"
}
