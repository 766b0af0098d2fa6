package disk

import (
	"errors"
	"io/fs"
	"os"

	"memoir/internal/failpoint"
)

// Beside is the suffix of a file that will replace another one.
const Beside = ".memoir-new"

// Replace writes a file beside another and renames it, so that a reader sees one or the other. An
// existing entry of the temporary name, such as a link from a repository, is removed, not followed.
func Replace(path string, content []byte, mode fs.FileMode) error {
	if err := Discard(path + Beside); err != nil {
		return err
	}
	if err := failpoint.WriteFile(path+Beside, content, 0o600); err != nil {
		_ = failpoint.Remove(path + Beside)
		return err
	}
	err := flush(path+Beside, mode)
	if err == nil {
		err = failpoint.Rename(path+Beside, path)
	}
	if err != nil {
		_ = failpoint.Remove(path + Beside)
	}
	return err
}

// flush sets a file's mode and makes its content durable.
func flush(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // nothing is written
	if err != nil {
		return err
	}
	if err = failpoint.Before("flush"); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	return errors.Join(err, f.Close())
}

// Discard removes a file that may not exist.
func Discard(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failpoint.Remove(path)
}
