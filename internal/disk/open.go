package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is the error for a directory, a named pipe, a device and the like.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrTooLarge is the error for a file above the size limit of its reader.
var ErrTooLarge = errors.New("it is too large")

// Open opens a regular file for reading; anything else is ErrNotRegular in a *fs.PathError. It never
// waits for the writer of a named pipe, which may have replaced a file.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadFile returns the content of a regular file of at most limit bytes. A larger one is ErrTooLarge
// in a *fs.PathError.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)}
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}
