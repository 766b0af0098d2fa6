package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// storageError says that the disk refused something, and what a person can do.
// An error that already carries a code keeps it.
func storageError(err error, format string, args ...any) error {
	const unchanged = "the memory that was published before is unchanged"
	var coded *memoir.Error
	if errors.As(err, &coded) {
		return memoir.Errorf(coded.Code, coded.Hint, format+": %w", append(args, err)...)
	}
	hint := unchanged
	if known := disk.Hint(err); known != "" {
		hint = known + "; " + unchanged
	}
	return memoir.Errorf(memoir.CodeStorage, hint, format+": %w", append(args, err)...)
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
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

// makeDir makes a directory with its missing parents, durably: each new name is
// flushed in the directory that holds it.
func makeDir(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if parent == path {
		return err
	}
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := failpoint.Mkdir(path, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}
