package rollout

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"

	"memoir/internal/lazyregexp"
)

// A large output of a tool stands in a file of its own, and the result holds its
// beginning: what matters of a long output is often its end.

// maxPersisted is how many bytes of such a file are read, half of them from its end.
const maxPersisted = 1 << 20

// savedTo finds the path in the words around an output's beginning.
var savedTo = lazyregexp.New(`(?m)^Output (?:too large|exceeded the) [^\n]*saved to: ([^\n]+)$`)

// persisted replaces the beginning of a large output by the file that has all of it. The
// path is the transcript's word and is not followed: only its last element counts, for
// a file in the session's own directory of results, which no link leads out of.
func (r *claudeReader) persisted(s string) string {
	if r.session == "" || !strings.HasPrefix(strings.TrimSpace(s), "<persisted-output>") {
		return s
	}
	note := savedTo.FindStringSubmatch(s)
	if note == nil {
		return s
	}
	file := strings.ReplaceAll(strings.TrimSpace(note[1]), `\`, "/")
	own := stem(r.session) + "/tool-results/"
	name := file[strings.LastIndexByte(file, '/')+1:]
	if name == "" || !strings.HasSuffix(file, "/"+own+name) {
		return s
	}
	whole, ok := readPersisted(filepath.Dir(r.session), own+name)
	if !ok {
		return s
	}
	if strings.HasSuffix(name, ".json") && isArray([]byte(whole)) && gjson.Valid(whole) {
		whole = contentText([]byte(whole))
	}
	return strings.ToValidUTF8(whole, "\uFFFD")
}

// readPersisted reads a file below a directory: its beginning and its end if it is
// larger than the bound.
func readPersisted(dir, name string) (string, bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", false
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "", false
	}
	head, err := io.ReadAll(io.LimitReader(f, min(info.Size(), maxPersisted/2)))
	if err != nil {
		return "", false
	}
	if rest := info.Size() - int64(len(head)); rest > 0 {
		end := make([]byte, min(rest, maxPersisted/2))
		if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err != nil {
			return "", false
		}
		if rest > int64(len(end)) {
			// Cut at white space, so that a secret at an edge is never half kept.
			cut := strings.LastIndexAny(string(head), " \t\r\n")
			from := strings.IndexAny(string(end), " \t\r\n")
			if cut < 0 || from < 0 {
				return "", false
			}
			return string(head[:cut]) + "\n[…]\n" + string(end[from+1:]), true
		}
		head = append(head, end...)
	}
	return string(head), true
}
