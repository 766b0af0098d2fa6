package rollout

import (
	"bytes"
	"context"
	"io"

	"memoir"
)

// Part is one file of a thread.
type Part struct {
	Path     string
	Head     Head
	Withheld bool // the system does not let it be read now: a copy that can be read is better
}

// Stats is what reading a thread met with.
type Stats struct {
	Records   int // JSON values read
	Items     int // items given
	Malformed int // lines or values that are not JSON
	Elided    int // strings of more than 1 MiB that were cut
	Oversized int // records that were skipped because they are still over 64 MiB
	Undone    int // messages and tool calls that were rolled back, reverted or left on an abandoned branch
	Replayed  int // messages and tool calls that a fork repeats from its parent
	Injected  int // user, system and developer texts that no person wrote
	CutTail   bool
	OwnRun    bool           // the session is one of memoir's own model calls
	Unknown   map[string]int // records of a type that the reader does not know
}

// Bounds of Stats.Unknown.
const (
	maxTypes = 100 // types that are told apart
	maxType  = 80  // bytes of one
)

// unknown counts a record of a type that no reader knows. What is too long for a
// name is not cut: half a secret is still one.
func (s *Stats) unknown(kind string) {
	if s.Unknown == nil {
		s.Unknown = map[string]int{}
	}
	switch {
	case kind == "":
		kind = "(none)"
	case len(kind) > maxType:
		kind = "(long)"
	}
	if len(s.Unknown) >= maxTypes && s.Unknown[kind] == 0 {
		kind = "(others)"
	}
	s.Unknown[kind]++
}

// Read gives the items of one thread, in order, to fn. The parts are the files
// of the thread as Assemble orders them; a part whose Head is empty is probed. It
// holds a bounded amount of memory however long the session is. Damage is counted
// in Stats and is no error; fn's error ends the reading and is returned.
func Read(ctx context.Context, parts []Part, fn func(memoir.Item) error) (Stats, error) {
	stats := Stats{}
	if len(parts) == 0 {
		return stats, memoir.Errorf(memoir.CodeUnreadable, "", "a session without files")
	}
	parts = append([]Part(nil), parts...)
	for i := range parts {
		if parts[i].Head.Source != "" {
			continue
		}
		head, err := Probe(Entry{File: memoir.File{Path: parts[i].Path}})
		if err != nil {
			return stats, err
		}
		parts[i].Head = head
	}
	agent := AgentOf(parts[0].Head.Source)
	if agent == nil {
		return stats, memoir.Errorf(memoir.CodeUnreadable, "", "read session %s: no reader for %q", parts[0].Path, parts[0].Head.Source)
	}
	e := newEmitter(fn, &stats, parts[0].Head.Kind)
	err := agent.Read(ctx, &tape{parts: parts, stats: &stats}, e)
	if err == nil {
		e.finish()
		err = unstop(e.err)
	}
	return stats, err
}

// tailRecords returns copies of the whole records in the last piece of a file, and
// where in the piece the last of them ends. A partial piece may begin in the middle
// of a line.
func tailRecords(piece []byte, partial bool) (out [][]byte, end int64) {
	skipped := 0
	if partial {
		i := bytes.IndexByte(piece, '\n')
		if i < 0 {
			return nil, 0
		}
		skipped = i + 1
	}
	r := NewReader(bytes.NewReader(piece[skipped:]))
	for {
		raw, err := r.Next()
		if err == io.EOF || err != nil {
			return out, int64(skipped) + r.Offset()
		}
		out = append(out, append([]byte(nil), raw...))
	}
}
