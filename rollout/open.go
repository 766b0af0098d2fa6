package rollout

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/disk"
)

var zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}

// maxWindow bounds the memory of decompression; Codex writes windows of at most 8 MiB.
const maxWindow = 32 << 20

// open opens a session file, decompressed if it begins with zstd's magic number, or a session in a database.
func open(path string) (io.ReadCloser, error) {
	if database, id, ok := splitMember(path); ok {
		return openMember(database, id)
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

// Withheld reports the error of a session whose file is missing, not permitted, not a regular file or behind a
// link loop. Such an error can disappear without a change of the session. path is the file's, or empty.
func Withheld(err error) (path string, ok bool) {
	var system *fs.PathError
	if memoir.CodeOf(err) != memoir.CodeUnreadable || !errors.As(err, &system) {
		return "", false
	}
	return system.Path, gone(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, disk.ErrNotRegular) ||
		errors.Is(err, syscall.ELOOP)
}

// openFile opens a regular file.
func openFile(path string) (*os.File, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	return f, nil
}

// maxSmall bounds the files beside sessions that are read whole.
const maxSmall = 1 << 20

// smallFile returns the content of a file beside sessions, nil if it cannot be read or is larger than 1 MiB.
func smallFile(path string) []byte {
	content, err := disk.ReadFile(path, maxSmall)
	if err != nil {
		return nil
	}
	return content
}

// smallJSON is smallFile for a JSON file; nil if it is not valid JSON.
func smallJSON(path string) []byte {
	content := bytes.TrimSpace(bytes.TrimPrefix(smallFile(path), []byte("\xEF\xBB\xBF")))
	if !gjson.ValidBytes(content) {
		return nil
	}
	return content
}

type zstdFile struct {
	*zstd.Decoder
	file *os.File
}

// Close closes the decoder and the file.
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

// splitMember is the inverse of memberPath. ok is false if a file has this path.
func splitMember(path string) (database, id string, ok bool) {
	i := strings.LastIndexByte(path, '#')
	if i <= 0 || strings.ContainsRune(path[i:], filepath.Separator) {
		return "", "", false
	}
	id, err := url.PathUnescape(path[i+1:])
	if err != nil || id == "" {
		return "", "", false
	}
	if _, err := os.Lstat(path); err == nil {
		return "", "", false
	}
	return path[:i], id, true
}

// Stat returns the File that Walk passes for a session; equal Files mean equal content. The error is
// fs.ErrNotExist if the path has no session.
func Stat(path string) (memoir.File, error) {
	if database, id, ok := splitMember(path); ok {
		return statMember(database, id)
	}
	info, err := os.Stat(path)
	if err != nil {
		return memoir.File{}, err
	}
	return asFile(path, info), nil
}

func asFile(path string, info fs.FileInfo) memoir.File {
	return memoir.File{Path: path, Size: info.Size(), ModTime: info.ModTime(), Inode: disk.Inode(info)}
}

// Missing returns the paths, each found by Walk before, that have no session any more. A session that cannot be
// checked, for instance because its database is locked, is not missing.
func Missing(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) (there bool) {
		info, err := os.Stat(path)
		if err == nil {
			// Walk passes a database itself if it cannot be listed.
			_, listed, err := opencodeSessions(path, info)
			return (info.Mode().IsRegular() || info.IsDir()) && !(listed && err == nil && isDatabase(path, info))
		}
		if gone(err) {
			_, err = Stat(path) // maybe of a database
		}
		return !gone(err)
	})
}

// gone reports an error that means that no file is at a path.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
