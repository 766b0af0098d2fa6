package rollout

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/tidwall/gjson"
)

// Bounds on a record. Real lines reach hundreds of megabytes (compactions that repeat every image), but their
// useful part is small.
const (
	maxString  = 1 << 20  // a longer JSON string is cut, see Reader
	maxRecord  = 32 << 20 // a record that is longer after cutting is skipped
	maxMembers = 1 << 20  // so is one with more members and elements
	maxDepth   = 512      // a record with deeper nesting is malformed
	chunkSize  = 256 << 10

	keptRecord = 4 << 20 // a buffer up to this size is kept for the next record
)

// large is locked while a Reader of this process has a record of more than keptRecord. Meanwhile that Reader
// waits for nothing else.
var large sync.Mutex

// Reader reads JSON objects one after the other from a stream to which programs append and in which they may
// crash. Several values may be on one line, and one may span lines. Blank lines, CRLF, NUL bytes and a byte order
// mark are ignored. Anything that is not an object is skipped to the end of its line and counted.
//
// A string longer than 1 MiB is cut at its last white space within the bound, so that no secret is cut in half. A
// string without white space is data and becomes empty. A record that is still over 32 MiB, or has more than
// maxMembers members, is skipped. Only one Reader of the process has a record of more than keptRecord at a time:
// others wait until Next or Close is called there.
type Reader struct {
	Malformed int  // lines or values that are not JSON
	Elided    int  // strings that were cut
	Oversized int  // records that were skipped because of their size
	CutTail   bool // the stream ends inside a record: it is still being written, or was cut

	src    io.Reader
	in     []byte // in[pos:end] is the rest of the current chunk
	pos    int
	end    int
	read   int64 // bytes read from src
	budget int64 // bytes after which reading ends once a record was returned; 0: no limit
	gave   int
	eof    bool
	err    error
	buf    []byte // the current record
	values int    // number of complete objects
	bad    []int  // indexes of those that are not JSON, ascending
	known  bool   // bad is known from an earlier pass over the stream
	brief  bool   // only the beginning matters: strings are cut at 256 KiB, records skipped at 8 MiB
}

// NewReader returns a Reader of the stream.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, in: make([]byte, chunkOf(src))}
}

// chunkOf returns how many bytes of a stream are read at once: for a small file no more than its size, since
// there are many.
func chunkOf(src io.Reader) int {
	f, ok := src.(*os.File)
	if !ok {
		return chunkSize
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return chunkSize
	}
	return int(min(max(info.Size(), 4<<10), chunkSize))
}

// Next returns the next record, io.EOF at the end, or the stream's error. The bytes are valid until the next call.
func (r *Reader) Next() ([]byte, error) {
	for {
		r.Close()
		c, ok := r.peek()
		if !ok {
			if r.err != nil {
				return nil, r.err
			}
			return nil, io.EOF
		}
		if c != '{' {
			r.Malformed++
			r.skipLine()
			continue
		}
		raw, end := r.value()
		switch end {
		case endWhole:
			r.values++
			if !r.valid(raw) {
				r.Malformed++
				continue
			}
			r.gave++
			return raw, nil
		case endBroken:
			r.Malformed++
			if raw = lastObject(raw); raw != nil {
				r.gave++
				return raw, nil
			}
		case endDeep:
			r.Malformed++
		case endOversized:
			r.Oversized++
		case endCut:
			r.CutTail = true
		}
	}
}

// valid checks a record's syntax, in the first pass over a stream only: it costs as much as all other reading.
func (r *Reader) valid(raw []byte) bool {
	if r.known {
		_, found := slices.BinarySearch(r.bad, r.values)
		return !found
	}
	if gjson.ValidBytes(raw) {
		return true
	}
	r.bad = append(r.bad, r.values)
	return false
}

// peek skips bytes that may be between records and returns the next byte.
func (r *Reader) peek() (byte, bool) {
	for {
		for r.pos < r.end {
			switch c := r.in[r.pos]; c {
			case ' ', '\t', '\r', '\n', 0, ',':
				r.pos++
			case 0xEF, 0xBB, 0xBF: // the bytes of a byte order mark
				r.pos++
			default:
				return c, true
			}
		}
		if !r.fill() {
			return 0, false
		}
	}
}

func (r *Reader) skipLine() {
	for {
		if i := bytes.IndexByte(r.in[r.pos:r.end], '\n'); i >= 0 {
			r.pos += i + 1
			return
		}
		if !r.fill() {
			return
		}
	}
}

// fill reads the next chunk. The current one must be used up.
func (r *Reader) fill() bool {
	r.pos, r.end = 0, 0
	if r.eof || r.budget > 0 && r.gave > 0 && r.read >= r.budget {
		return false
	}
	n, err := io.ReadAtLeast(r.src, r.in, 1)
	r.read, r.end = r.read+int64(n), n
	switch {
	case err == nil:
		return true
	case errors.Is(err, io.ErrUnexpectedEOF): // a compressed file that was cut
		r.CutTail = true
	case !errors.Is(err, io.EOF):
		r.err = err
	}
	r.eof = true
	return false
}

// Close releases the buffer of a large record. Without the explicit collection the heap would first grow by
// twice its size.
func (r *Reader) Close() {
	if cap(r.buf) > keptRecord {
		r.buf = nil
		runtime.GC()
		large.Unlock()
	}
}

// ending says how an object ended.
type ending int

const (
	endWhole     ending = iota
	endBroken           // a new record began inside it
	endDeep             // nested too deep
	endOversized        // more than maxRecord
	endCut              // the stream ended inside it
)

// bound returns a bound, a quarter of it if only the beginning matters.
func (r *Reader) bound(most int) int {
	if r.brief {
		return most / 4
	}
	return most
}

// value reads the object that begins at in[pos].
func (r *Reader) value() ([]byte, ending) {
	r.buf = r.buf[:0]
	s := splitter{Reader: r, start: r.pos}
	for {
		if s.pos == s.end {
			if s.keep(); !s.fill() {
				return nil, endCut
			}
			s.start = 0
		}
		if s.inString {
			if !s.passString() {
				return s.buf, endBroken
			}
		} else if how, done := s.passStructure(); done {
			if how == endWhole && len(s.buf) == 0 {
				return s.in[s.start:s.pos], endWhole
			}
			if s.keep(); s.over && how == endWhole {
				how = endOversized
			}
			return s.buf, how
		}
	}
}

// splitter finds the end of an object. It skips strings with IndexByte, so that it is faster than the disk.
type splitter struct {
	*Reader
	start    int // in[start:pos] was scanned and is not in buf yet
	depth    int
	inString bool
	odd      bool // in a string: an odd number of backslashes precedes in[pos]
	strPos   int  // offset of the string in the object
	members  int  // number of members and elements so far
	dropping bool // the rest of the string is dropped
	deep     bool
	over     bool
	fresh    bool // in[pos] is the first byte of a line
}

// keep moves scanned bytes to buf, unless they are dropped.
func (s *splitter) keep() {
	piece := s.in[s.start:s.pos]
	s.start = s.pos
	switch {
	case s.over || s.deep || s.dropping:
	case len(s.buf)+len(piece) > s.bound(maxRecord):
		s.over = true
	default:
		s.grow(len(piece))
		s.buf = append(s.buf, piece...)
	}
}

// passString skips a string up to its end or the chunk's. It returns false at a line break, which a JSON string
// cannot have; pos is then after it.
func (s *splitter) passString() bool {
	piece := s.in[s.pos:s.end]
	quote := bytes.IndexByte(piece, '"')
	if quote >= 0 {
		piece = piece[:quote]
	}
	if nl := bytes.IndexByte(piece, '\n'); nl >= 0 {
		s.pos += nl
		s.keep()
		s.pos++
		return false
	}
	slashes := 0
	for slashes < len(piece) && piece[len(piece)-1-slashes] == '\\' {
		slashes++
	}
	s.odd = (slashes%2 == 1) != (s.odd && slashes == len(piece))
	s.pos += len(piece)
	if bound := s.bound(maxString); s.dropping || len(s.buf)+s.pos-s.start-s.strPos > bound {
		if s.keep(); !s.dropping && !s.over && !s.deep {
			s.Elided++
			s.buf = s.buf[:s.strPos+headLen(s.buf[s.strPos:], bound)]
			s.dropping = true
		}
	}
	if quote >= 0 {
		s.inString = s.odd // a quotation mark after a backslash is part of the string
		s.dropping = s.dropping && s.inString
		s.odd = false
		s.pos++
	}
	return true
}

// passStructure skips everything up to the next string, the end of the chunk, or the end of the object: then done
// is true and pos is after the object.
func (s *splitter) passStructure() (how ending, done bool) {
	for ; s.pos < s.end; s.pos++ {
		switch s.in[s.pos] {
		case '"':
			s.inString, s.fresh = true, false
			s.pos++
			s.strPos = len(s.buf) + s.pos - s.start
			return 0, false
		case '{', '[':
			// A record may span lines, but an object at the beginning of a line is a new record: the
			// writer crashed and another one continued.
			if s.fresh && s.depth > 0 && s.in[s.pos] == '{' {
				return endBroken, true
			}
			s.fresh = false
			s.depth++
			s.deep = s.deep || s.depth > maxDepth
		case '}', ']':
			s.fresh = false
			if s.depth--; s.depth > 0 {
				continue
			}
			s.pos++
			if s.deep {
				return endDeep, true
			}
			return endWhole, true
		case ',':
			s.fresh = false
			s.members++
			s.over = s.over || s.members >= maxMembers
		case '\n':
			s.fresh = true
		default:
			s.fresh = false
		}
	}
	return 0, false
}

// grow makes room for n bytes. A record beyond 4 MiB gets a buffer of the maximum size at once: unused pages cost
// nothing, repeated copies would.
func (r *Reader) grow(n int) {
	need := len(r.buf) + n
	if need <= cap(r.buf) {
		return
	}
	size := max(2*cap(r.buf), need, len(r.in))
	if size > keptRecord {
		large.Lock()
		size = maxRecord + chunkSize
	}
	buf := make([]byte, len(r.buf), size)
	copy(buf, r.buf)
	r.buf = buf
}

// headLen returns how many raw bytes of a long string to keep: up to the last white space, raw or escaped, in its
// first bound bytes.
func headLen(raw []byte, bound int) int {
	last := 0
	for i := 0; i < min(len(raw), bound); i++ {
		switch {
		case raw[i] == ' ':
			last = i
		case raw[i] == '\\' && i+1 < len(raw):
			if c := raw[i+1]; c == 'n' || c == 'r' || c == 't' {
				last = i
			}
			i++
		}
	}
	return last
}
