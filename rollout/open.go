package rollout

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/disk"
)

var zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}

// maxWindow bounds what decompression may hold; Codex writes windows of at most 8 MiB.
const maxWindow = 32 << 20

// open opens a session file and, if its first bytes say so, decompresses it. What
// is no file of its own is opened by the agent that keeps it.
func open(path string) (io.ReadCloser, error) {
	for _, k := range keepers("") {
		if r, ok, err := k.Open(path); ok || err != nil {
			return r, err
		}
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	var magic [4]byte
	n, err := f.ReadAt(magic[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, openError(path, err)
	}
	if !bytes.Equal(magic[:n], zstdMagic) {
		return f, nil
	}
	dec, err := zstd.NewReader(bufio.NewReaderSize(f, 64<<10),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("decompress %s: %w", path, err)
	}
	return &zstdFile{dec, f}, nil
}

// errNoFile is what is said of a directory, a named pipe and the like.
var errNoFile = errors.New("it is not a file")

// Withheld reports an error of a session whose file is gone, forbidden, no file any more
// or behind a link that leads to itself. It says nothing of what was said in the session, and passes without a change to it. The
// path is the file's; empty if it is not known.
func Withheld(err error) (path string, ok bool) {
	var system *fs.PathError
	if memoir.CodeOf(err) != memoir.CodeUnreadable || !errors.As(err, &system) {
		return "", false
	}
	return system.Path, gone(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errNoFile) || errors.Is(err, syscall.ELOOP)
}

// openFile opens a regular file. What took its place since it was found may be a
// named pipe, whose opening would wait for a writer.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, openError(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errNoFile}
	}
	if err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	return f, nil
}

// maxSmall bounds the files beside sessions that are read whole.
const maxSmall = 1 << 20

// smallFile returns what is in a file beside sessions, nil if it cannot be read or
// is larger than 1 MiB.
func smallFile(path string) []byte {
	f, err := openFile(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err != nil || len(content) > maxSmall {
		return nil
	}
	return content
}

// smallJSON is smallFile for a JSON file, nil if it is none.
func smallJSON(path string) []byte {
	content := bytes.TrimPrefix(smallFile(path), []byte("\xEF\xBB\xBF"))
	if !gjson.ValidBytes(content) {
		return nil
	}
	return content
}

type zstdFile struct {
	*zstd.Decoder
	file *os.File
}

// Close closes the file, whose error it returns.
func (z *zstdFile) Close() error {
	z.Decoder.Close()
	return z.file.Close()
}

func openError(path string, err error) error {
	switch {
	case disk.Lacking(err):
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "read session %s: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return memoir.Errorf(memoir.CodeUnreadable, "allow your user to read it", "read session %s: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return memoir.Errorf(memoir.CodeUnreadable, "", "the session file is gone: %w", err)
	}
	return memoir.Errorf(memoir.CodeUnreadable, disk.Hint(err), "read session %s: %w", path, err)
}
