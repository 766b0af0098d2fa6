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
