package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
)

// scheme begins the addresses by which agents name memory.
const scheme = "memory://"

// Open reads a file of the live memory, or lists a directory of it, one name a
// line with a slash behind those of directories. A place is an address or a path:
//
//	memory://root                      memory_summary.md
//	memory://root/MEMORY.md            a file
//	memory://root/skills/x/SKILL.md    a file
//	skills/x                           a path relative to the root; "." is the root
//
// An address is percent-decoded once; encoded slashes are refused. A place that
// is malformed or leads out of the root is memoir.CodeUsage, one that is not
// there memoir.CodeNotFound with a hint at what is.
func (r Root) Open(place string) ([]byte, error) {
	name, err := resolve(place)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		n, err := r.linked()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, memoir.Errorf(memoir.CodeNotFound, "`memoir run` makes one, of this project's sessions", "there is no memory yet")
		}
		content, err := r.open(n, name)
		// A reader that two publications overtook finds its directory gone.
		if after, linkErr := r.linked(); err != nil && linkErr == nil && after != n && try < tries {
			continue
		}
		return content, err
	}
}

func (r Root) open(n int, name string) ([]byte, error) {
	root, err := r.openLive(n)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return nil, memoir.Errorf(memoir.CodeNotFound, there(root, name), "there is no %s in the memory", name)
	case errors.Is(err, fs.ErrPermission):
		return nil, storageError(err, "read %s", filepath.Join(r.Live(n), name))
	case err != nil:
		return nil, outside(name)
	case info.IsDir():
		return list(root, name)
	case !info.Mode().IsRegular():
		return nil, memoir.Errorf(memoir.CodeUsage, there(root, name), "%s is a %s", name, kind(info.Mode()))
	}
	content, err := readBounded(root, name, maxFile)
	if err != nil {
		return nil, storageError(err, "read %s", filepath.Join(r.Live(n), name))
	}
	return content, nil
}

// resolve turns a place into a path below the root, "." for the root itself.
func resolve(place string) (string, error) {
	path := place
	if len(place) >= len(scheme) && strings.EqualFold(place[:len(scheme)], scheme) {
		host, rest, _ := strings.Cut(place[len(scheme):], "/")
		if host != "root" {
			return "", memoir.Errorf(memoir.CodeUsage, "use memory://root, or memory://root/MEMORY.md", "%q is not an address of this project's memory", place)
		}
		if rest == "" {
			return SummaryFile, nil
		}
		if lower := strings.ToLower(rest); strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") {
			return "", outside(place)
		}
		decoded, err := url.PathUnescape(rest)
		if err != nil {
			return "", memoir.Errorf(memoir.CodeUsage, "", "%q is not an address: %w", place, err)
		}
		path = decoded
	}
	if path == "." || path == "./" {
		return ".", nil
	}
	path = strings.TrimSuffix(strings.TrimPrefix(path, "./"), "/")
	if path == "" || !utf8.ValidString(path) || len(path) > 4*maxPath || strings.ContainsFunc(path, func(c rune) bool {
		return unicode.IsControl(c) || c == '\\' || c == ':'
	}) {
		return "", outside(place)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part[0] == '.' || windowsDevice(part) {
			return "", outside(place)
		}
	}
	return path, nil
}

func outside(place string) error {
	return memoir.Errorf(memoir.CodeUsage, "name a file of it, such as memory://root/MEMORY.md", "%q is no place in the memory", place)
}

func list(root *os.Root, name string) ([]byte, error) {
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return nil, storageError(err, "list %s", filepath.Join(root.Name(), name))
	}
	var b strings.Builder
	for _, entry := range entries {
		if foreign(entry.Name()) || name == "." && entry.Name() == manifestName {
			continue
		}
		b.WriteString(Neutralise(entry.Name()))
		if entry.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	return []byte(b.String()), nil
}

// shown bounds how many names a hint lists.
const shown = 20

// there says what the nearest directory above a missing name does hold.
func there(root *os.Root, name string) string {
	for dir := filepath.ToSlash(filepath.Dir(name)); ; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if info, err := root.Stat(dir); err == nil && info.IsDir() {
			content, err := list(root, dir)
			if err != nil {
				return ""
			}
			names := strings.Fields(string(content))
			more := ""
			if len(names) > shown {
				more = fmt.Sprintf(" and %d more", len(names)-shown)
				names = names[:shown]
			}
			where := "the memory"
			if dir != "." {
				where = dir
			}
			if len(names) == 0 {
				return where + " is empty"
			}
			return where + " holds " + strings.Join(names, ", ") + more
		}
		if dir == "." {
			return ""
		}
	}
}
