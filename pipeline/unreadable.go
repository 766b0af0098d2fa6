package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/store"
)

// maxUnreadable bounds how many files that cannot be read are named one by one.
const maxUnreadable = 10

// sayUnreadable names the files and directories that turned out to be unreadable,
// or to be no sessions. Those that were so before are not among probed: their
// reason stays with them.
func (r *run) sayUnreadable(probed []probe) {
	for _, p := range probed {
		if p.err != nil {
			r.sayLeftOut(r.redact(p.err.Error()), memoir.HintOf(p.err))
		}
	}
	r.sayLeftOutMore()
}

// sayLeftOut names a file that is left out, or counts it if many were named.
func (r *run) sayLeftOut(message, hint string) {
	r.mu.Lock()
	r.leftOut++
	many := r.leftOut > maxUnreadable
	r.mu.Unlock()
	if !many {
		r.mention("left out: "+message, hint)
	}
}

// sayLeftOutMore says how many were counted, and begins anew.
func (r *run) sayLeftOutMore() {
	r.mu.Lock()
	more := r.leftOut - maxUnreadable
	r.leftOut = 0
	r.mu.Unlock()
	if more > 0 {
		r.mention(fmt.Sprintf("left out: %d more", more), "`memoir sessions --reason unreadable` lists them all")
	}
}

// refused reports that the system would not let the file be read. Leave to read it
// can be given without a change to the file, so its row bears a time that no file
// has, and each scan tries it again.
func refused(err error) bool {
	var system *fs.PathError
	return errors.As(err, &system)
}

// asBefore reports that a file still cannot be read, for the same reason.
func (r *run) asBefore(known map[string]store.FileRow, p probe) bool {
	return p.err != nil && refused(p.err) && known[p.entry.Path].Error == r.redact(p.err.Error())
}

// readableDir reports whether a path leads to a directory that can be read. One
// that is registered could not be, and its sessions are found by now.
func readableDir(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	d, err := os.Open(path)
	if err != nil {
		return false
	}
	return d.Close() == nil
}

// printablePath writes the bytes of a path that are not UTF-8 as \xNN: keys travel
// as JSON, which would lose them.
func printablePath(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	for i, c := range path {
		if _, size := utf8.DecodeRuneInString(path[i:]); c == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, path[i])
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}
