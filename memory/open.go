package memory

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// listHint is the hint for a file that cannot be read.
const listHint = "the path . lists the files"

// scheme is the prefix of the addresses that agents use.
const scheme = "memory://"

// Open reads a file of the live memory of at most maxFile bytes, or lists a directory: one name a line, with a
// slash after the name of a directory. A place is an address or a path:
//
//	memory://root                      memory_summary.md
//	memory://root/MEMORY.md            a file
//	memory://root/skills/x/SKILL.md    a file
//	skills/x                           a path relative to the root; "." is the root
//
// An address is percent-decoded once; encoded slashes are refused. The error is memoir.CodeUsage for a place
// that is malformed or outside the root, and memoir.CodeNotFound for one that does not exist.
func (r Root) Open(place string) ([]byte, error) {
	name, err := resolve(place)
	if err != nil {
		return nil, err
	}
	return reading(r, func(n int) ([]byte, error) {
		if n == 0 {
			return nil, memoir.Errorf(memoir.CodeNotFound, "`memoir run` creates it from sessions and notes",
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
	case absent(err):
		return nil, memoir.Errorf(memoir.CodeNotFound, listHint, "no file %s in the memory", name)
	case errors.Is(err, fs.ErrPermission):
		return nil, storageError(err, "read %s", filepath.Join(r.Live(n), name))
	case err != nil:
		return nil, outside(name)
	case info.IsDir():
		return list(root, name)
	case !info.Mode().IsRegular():
		return nil, memoir.Errorf(memoir.CodeUsage, listHint, "%s is a %s", name, kind(info.Mode()))
	}
	content, err := readBounded(root, name)
	return content, storageError(err, "read %s", filepath.Join(r.Live(n), name))
}

// resolve converts a place to a path below the root, "." for the root itself.
func resolve(place string) (string, error) {
	path := place
	if len(place) >= len(scheme) && strings.EqualFold(place[:len(scheme)], scheme) {
		host, rest, _ := strings.Cut(place[len(scheme):], "/")
		if host != "root" {
			return "", memoir.Errorf(memoir.CodeUsage, "use memory://root, or memory://root/MEMORY.md",
				"%q is not an address of this project's memory", place)
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
	return memoir.Errorf(memoir.CodeUsage, "name a file of it, such as memory://root/MEMORY.md",
		"%q is not a file of the memory", place)
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

// Summary reads the live memory_summary.md, "" if there is no memory yet. It opens only this file and compares nothing,
// since the start of each session waits for it. The text is returned as it is on disk; see Neutralise and FitTokens.
func (r Root) Summary() (string, error) {
	content, err := reading(r, func(n int) ([]byte, error) {
		if n == 0 {
			return nil, nil
		}
		content, err := r.open(n, memoir.SummaryFile)
		if memoir.CodeOf(err) == memoir.CodeNotFound && !r.lost(n) {
			return nil, nil // a person deleted it
		}
		return content, err
	})
	return string(content), err
}

// cutMark is the last line of a text that was cut.
const cutMark = "(cut here; more is in memory://root/MEMORY.md)"

// FitTokens cuts a text to a number of tokens (4 bytes each) at the end of a line. A cut text ends with
// cutMark, which is included in the limit. It never ends inside a code fence or with a heading. The result is
// "" if the limit is too small for cutMark.
func FitTokens(text string, tokens int) string {
	if memoir.Tokens(text) <= tokens {
		return text
	}
	budget := max(tokens, 0)*4 - len(cutMark) - 1
	if budget < 0 {
		return ""
	}
	size, kept, fenced := 0, 0, false
	for l := range strings.Lines(text) {
		if size += len(l); size > budget {
			break
		}
		l = strings.TrimSpace(l)
		fenced = fenced != (strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~"))
		if !fenced && l != "" && !memoir.IsHeading(l) {
			kept = size
		}
	}
	return text[:kept] + cutMark + "\n"
}

// Neutralise makes a text safe to embed in a prompt or to print on a terminal. It removes terminal control
// sequences and characters that are hidden or reorder others. Tags that would close or imitate the frame of
// memoir's context lose their bracket; the frame's name is changed everywhere, also in escaped tags. Line
// breaks, tabs and visible text stay. Neutralise is idempotent.
//
//	</memoir-context>   becomes  ‹/memoir context>
//	<system-reminder>   becomes  ‹system-reminder>
//	<|im_start|>        becomes  ‹|im_start|>
func Neutralise(text string) string {
	text = memoir.Visible(text)
	if strings.Contains(strings.ToLower(text), "memoir") { // most texts need no search for the frame's name
		text = frameName.ReplaceAllString(text, "$1 $2")
	}
	return prompts.Untag(text, prompts.Steers)
}

var frameName = lazyregexp.New(`(?i)(memoir)[-_](context)`)
