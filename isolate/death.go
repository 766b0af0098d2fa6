package isolate

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Death is the error of a worker that ended without an answer while it was at work.
type Death struct {
	State       string // "killed by SIGKILL", "exit status 2"
	Said        string // the line of its stderr that tells most; not redacted
	OutOfMemory bool   // as far as that can be told
}

// Error tells how the worker ended, and the line of its stderr that tells most.
func (d *Death) Error() string {
	text := d.State
	if d.OutOfMemory {
		text = "out of memory, " + text
	}
	if d.Said != "" {
		text += ": " + d.Said
	}
	return text
}

const (
	saidKept = 4 << 10 // bytes of either end of what a worker said
	maxLine  = 500     // bytes of the line that tells most
)

// said keeps the beginning and the end of what a worker says on stderr.
type said struct {
	mu         sync.Mutex
	head, tail []byte
}

// Write takes all of p, and never fails; the middle of what is written is lost.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := p
	if room := saidKept - len(s.head); room > 0 {
		n := min(room, len(rest))
		s.head, rest = append(s.head, rest[:n]...), rest[n:]
	}
	s.tail = append(s.tail, rest...)
	if over := len(s.tail) - saidKept; over > 0 {
		s.tail = append([]byte(nil), s.tail[over:]...)
	}
	return len(p), nil
}

// reasons begin the line in which Go's runtime says why it gives up. The line of a signal
// is last: where C code gave up, what it says stands before it.
var reasons = []string{"fatal error: ", "panic: ", "runtime/cgo: ", "SIG"}

// telling is the line that says why a program of Go ended, which its stack follows, else
// the last one.
func (s *said) telling() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := ""
	for line := range strings.Lines(strings.ToValidUTF8(string(s.head)+string(s.tail), "\uFFFD")) {
		line = strings.TrimSpace(line)
		if slices.ContainsFunc(reasons, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			return short(line)
		}
		if line != "" {
			last = line
		}
	}
	return short(last)
}

func short(line string) string {
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}

// outOfMemory reports whether the worker itself said so. Of a thread that cannot be had
// for want of memory the C library says that resources are unavailable.
func (s *said) outOfMemory() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sign := range []string{"out of memory", "cannot allocate memory", "pthread_create failed"} {
		if bytes.Contains(s.head, []byte(sign)) {
			return true
		}
	}
	return false
}
