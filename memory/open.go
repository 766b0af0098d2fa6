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

// whatThereIs is the hint at what can be read.
const whatThereIs = "`memoir cat .` lists the files"

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
	return reading(r, func(n int) ([]byte, error) {
		if n == 0 {
			return nil, memoir.Errorf(memoir.CodeNotFound, "`memoir run` creates it from this project's sessions",
				"no memory yet")
		}
		return r.open(n, name)
	})
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
		return nil, memoir.Errorf(memoir.CodeNotFound, whatThereIs, "no file %s in the memory", name)
	case errors.Is(err, fs.ErrPermission):
		return nil, storageError(err, "read %s", filepath.Join(r.Live(n), name))
	case err != nil:
		return nil, outside(name)
	case info.IsDir():
		return list(root, name)
	case !info.Mode().IsRegular():
		return nil, memoir.Errorf(memoir.CodeUsage, whatThereIs, "%s is a %s", name, kind(info.Mode()))
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
			return "", memoir.Errorf(
				memoir.CodeUsage,
				"use memory://root, or memory://root/MEMORY.md",
				"%q is not an address of this project's memory",
				place,
			)
		}
		if rest == "" {
			return memoir.SummaryFile, nil
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
	if path == "" || !utf8.ValidString(path) || len(path) > 1000 || strings.ContainsFunc(path, func(c rune) bool {
		return unicode.IsControl(c) || c == '\\' || c == ':'
	}) {
		return "", outside(place)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part[0] == '.' {
			return "", outside(place)
		}
	}
	return path, nil
}

func outside(place string) error {
	return memoir.Errorf(
		memoir.CodeUsage,
		"name a file of it, such as memory://root/MEMORY.md",
		"%q is not a file of the memory",
		place,
	)
}

func list(root *os.Root, name string) ([]byte, error) {
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return nil, storageError(err, "list %s", filepath.Join(root.Name(), name))
	}
	var b strings.Builder
	for _, entry := range entries {
		if memoir.EditorsOwn(entry.Name()) || name == "." && entry.Name() == manifestName {
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

// Summary reads the live memory_summary.md, "" if there is no memory yet. It
// opens that one file and compares nothing: it is what every session's start
// waits for. The text is as it stands on disk; see Neutralise and FitTokens.
func (r Root) Summary() (string, error) {
	content, err := reading(r, func(n int) ([]byte, error) {
		if n == 0 {
			return nil, nil
		}
		root, err := r.openLive(n)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		content, err := readBounded(root, memoir.SummaryFile, maxFile)
		if errors.Is(err, fs.ErrNotExist) && !r.lost(n) {
			return nil, nil // a person deleted it, and then nothing is to be said
		}
		if err != nil {
			return nil, storageError(err, "read %s", filepath.Join(r.Live(n), memoir.SummaryFile))
		}
		return content, nil
	})
	return string(content), err
}

// cutMark closes a text that was cut.
const cutMark = "(cut here; the whole memory is in memory://root/MEMORY.md)"

// FitTokens cuts a text to a number of tokens (4 bytes each) by whole lines. A
// cut text ends with a line that says where the rest is, which counts too; it
// ends neither inside a code fence nor with a heading that lost its content. A
// limit that not even that line fits gives "".
func FitTokens(text string, tokens int) string {
	if memoir.Tokens(text) <= tokens {
		return text
	}
	budget := max(tokens, 0)*4 - len(cutMark) - 1
	if budget < 0 {
		return ""
	}
	var lines []string
	size, fence := 0, -1
	for l := range strings.Lines(text) {
		if size+len(l) > budget {
			break
		}
		size += len(l)
		if trimmed := strings.TrimSpace(l); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			if fence < 0 {
				fence = len(lines)
			} else {
				fence = -1
			}
		}
		lines = append(lines, l)
	}
	if fence >= 0 {
		lines = lines[:fence]
	}
	for len(lines) > 0 {
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" && !heading(last) {
			break
		}
		lines = lines[:len(lines)-1]
	}
	kept := strings.Join(lines, "")
	if kept != "" && !strings.HasSuffix(kept, "\n") {
		kept += "\n"
	}
	return fmt.Sprintf("%s%s\n", kept, cutMark)
}
