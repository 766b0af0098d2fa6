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

// maxWindow bounds what decompression may hold; Codex writes windows of at most 8 MiB.
const maxWindow = 32 << 20

// open opens a session file and, if its first bytes say so, decompresses it; or a session
// in a database.
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

// Withheld reports an error of a session whose file is gone, forbidden, no file any more
// or behind a link that leads to itself. Such an error can pass without a change to the session.
// The path is the file's; empty if it is not known.
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

// smallFile returns what is in a file beside sessions, nil if it cannot be read or
// is larger than 1 MiB.
func smallFile(path string) []byte {
	content, err := disk.ReadFile(path, maxSmall)
	if err != nil {
		return nil
	}
	return content
}

// smallJSON is smallFile for a JSON file, nil if it is none.
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

// splitMember is the inverse of memberPath. A file may have such a name too: it
// is not ok if there is one.
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

// isMember reports whether a path is one inside a database, by its form alone.
func isMember(path string) bool { return strings.Contains(filepath.Base(path), "#") }

// Stat looks at a session as Walk does: two looks that give the same File mean the
// same content. The error is fs.ErrNotExist if there is none at the path.
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
	return memoir.File{Path: path, Size: info.Size(), ModTime: info.ModTime(), Inode: inode(info)}
}

// Missing returns those of the paths, each given by Walk before, that lead to no
// session any more. A session that cannot be looked at, for instance because its
// database is locked, is not missing.
func Missing(paths []string) []string {
	sessions := map[string]map[string]bool{} // by database: the paths of its sessions; nil: not known
	return slices.DeleteFunc(slices.Clone(paths), func(path string) (there bool) {
		info, err := os.Stat(path)
		if err == nil {
			// A database that could not be listed once was given as itself.
			_, listed, err := opencodeSessions(path, info)
			return (info.Mode().IsRegular() || info.IsDir()) && !(listed && err == nil && isDatabase(path, info))
		}
		database, _, member := splitMember(path)
		if !gone(err) || !member {
			return !gone(err)
		}
		if _, looked := sessions[database]; !looked {
			sessions[database] = membersOf(database)
		}
		known := sessions[database]
		return known == nil || known[path]
	})
}

// gone reports an error that says that nothing is at a path, and not only that it
// cannot be looked at.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// membersOf lists the paths of a database's sessions; nil if that cannot be done,
// and none if there is no database.
func membersOf(database string) map[string]bool {
	members := map[string]bool{}
	info, err := os.Stat(database)
	if errors.Is(err, fs.ErrNotExist) {
		return members
	}
	if err != nil {
		return nil
	}
	sessions, ok, err := opencodeSessions(database, info)
	if err != nil || !ok {
		return nil // not permitted, or damaged
	}
	for _, f := range sessions {
		members[f.Path] = true
	}
	return members
}
