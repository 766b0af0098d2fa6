// Package disk explains errors and limits of file systems: it has hints for errors, and checks whether enough files can
// be opened and whether a directory is fit for a home. It opens regular files only and replaces files atomically.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"syscall"

	"memoir"
	"memoir/internal/failpoint"
)

// Fit returns an error of memoir.CodeStorage if dir, which must exist, is on a network file
// system: SQLite's WAL needs shared memory, which processes on different machines don't have.
// Other faults of a file system show when the database is opened.
func Fit(dir string) error {
	if !network(dir) {
		return nil
	}
	return memoir.Errorf(memoir.CodeStorage,
		"choose a directory on a local disk with --home DIR or MEMOIR_HOME; nothing was changed",
		"%s is on a network file system, on which processes can't share a database", dir)
}

// Inode returns the inode of a file, 0 if the file system has none.
func Inode(info fs.FileInfo) uint64 {
	if sys := reflect.Indirect(reflect.ValueOf(info.Sys())); sys.Kind() == reflect.Struct {
		if number := sys.FieldByName("Ino"); number.IsValid() && number.CanUint() {
			return number.Uint()
		}
	}
	return 0
}

// hints are the advice on errors; the first that matches counts.
var hints = []struct {
	err  error
	hint string
}{
	{syscall.ENOSPC, "free some disk space, or files if there are too many (df, df -i), and run again"},
	{syscall.EDQUOT, "your quota is used up: free some of it and run again"},
	{syscall.EFBIG, "the limit of a file's size is reached: raise it (ulimit -f), or free some disk space, and run again"},
	{syscall.EROFS, "the file system is mounted read-only: mount it for writing"},
	{syscall.EMFILE, "too many files are open: raise the limit (ulimit -n) or lower memories.concurrency"},
	{syscall.ENFILE, "too many files are open on this machine: end what opened them, or raise fs.file-max, and run again"},
	{syscall.ENOMEM, "memory has run out: end other programs and run again"},
	{syscall.EXDEV, "keep a project's directory on one file system"},
	{syscall.EBUSY, "something is mounted at that path: unmount it"},
	{syscall.ELOOP, "a symbolic link leads back to itself: mend it or take it away"},
	{syscall.EIO, "the disk failed: see the system's log, and copy what you need to another one"},
	{syscall.ENOTDIR, "something else stands at that path: move it away"},
	{fs.ErrExist, "something else stands at that path: move it away"},
	{fs.ErrPermission, "give yourself read and write permission there"},
}

// Hint returns advice on an error of a file system; empty if there is none.
func Hint(err error) string {
	for _, known := range hints {
		if errors.Is(err, known.err) {
			return known.hint
		}
	}
	return ""
}

// HintOr is Hint for a file in a directory that a flag can replace.
func HintOr(err error, flag string) string {
	hint := Hint(err)
	for _, place := range []error{syscall.EROFS, syscall.EBUSY, fs.ErrPermission} {
		if errors.Is(err, place) {
			return hint + ", or choose another directory with " + flag
		}
	}
	return hint
}

// Lacking reports whether an error concerns the process or the machine rather than the file: a
// resource for opening files is used up.
func Lacking(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// ErrNotRegular is the error for a directory, a named pipe, a device and the like.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrTooLarge is the error for a file above the size limit of its reader.
var ErrTooLarge = errors.New("it is too large")

// Open opens a regular file for reading; anything else is ErrNotRegular in a *fs.PathError. It never
// waits for the writer of a named pipe, which may have replaced a file.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return regular(f, err, func() (fs.FileInfo, error) { return f.Stat() })
}

// OpenIn is Open with flags of os.OpenFile for a file below a directory. It follows neither the file, if it is a link,
// nor a link out of the directory.
func OpenIn(dir, path string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name, _ := filepath.Rel(dir, path) // an empty one cannot be opened
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o600)
	return regular(f, err, func() (fs.FileInfo, error) { return root.Lstat(name) })
}

// regular returns an opened file if it is the regular file that entry describes, and closes it otherwise.
func regular(f *os.File, err error, entry func() (fs.FileInfo, error)) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	own, fault := entry()
	if err = errors.Join(err, fault); err == nil && (!own.Mode().IsRegular() || !os.SameFile(own, info)) {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadIn is ReadFile for a file that OpenIn opens.
func ReadIn(dir, path string, limit int64) ([]byte, error) {
	f, err := OpenIn(dir, path, os.O_RDONLY)
	return read(f, err, limit)
}

// ReadFile returns the content of a regular file of at most limit bytes. A larger one is ErrTooLarge
// in a *fs.PathError.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	return read(f, err, limit)
}

func read(f *os.File, err error, limit int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)}
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Beside is the suffix of a file that will replace another one.
const Beside = ".memoir-new"

// Replace writes a file beside another and renames it, so that a reader sees one or the other. It creates missing
// directories. An existing entry of the temporary name, such as a link from a repository, is removed, not followed.
func Replace(path string, content []byte, mode fs.FileMode) error {
	err := failpoint.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = Discard(path + Beside)
	}
	if err != nil {
		return err
	}
	if err := failpoint.WriteFile(path+Beside, content, 0o600); err != nil {
		_ = failpoint.Remove(path + Beside)
		return err
	}
	err = Flush(path+Beside, mode)
	if err == nil {
		err = failpoint.Rename(path+Beside, path)
	}
	if err != nil {
		_ = failpoint.Remove(path + Beside)
	}
	return err
}

// Flush sets a file's mode and makes its content durable.
func Flush(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // nothing is written
	if err != nil {
		return err
	}
	if err = failpoint.Before("flush"); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be flushed there
	}
	if err := failpoint.Before("sync directory " + filepath.Base(path)); err != nil {
		return err
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Discard removes a file that may not exist.
func Discard(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failpoint.Remove(path)
}
