package rollout

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/tidwall/gjson"
)

// Bounds of a record. Real lines reach hundreds of megabytes (compactions that
// repeat every image); what is worth reading in them is small.
const (
	maxString = 1 << 20  // a JSON string above this is cut, see Reader
	maxRecord = 64 << 20 // a record above this after cutting is skipped
	maxDepth  = 512      // a record nested deeper is malformed
	chunkSize = 256 << 10

	keptRecord = 4 << 20 // room for records up to this is kept for the next one
)

// Reader reads JSON objects one after the other from a stream that programs
// append to and crash in. Values may be glued together on a line, or spread over
// lines; blank lines, CRLF, NUL runs and a byte order mark are passed over; what
// is not an object is skipped to the end of its line and counted.
//
// A string longer than 1 MiB is cut to the head that ends at its last white
// space, so that a secret at the edge is never half kept; a string without white
// space is data, and becomes empty. A record that is still over 64 MiB is
// skipped. No more than that is ever held.
type Reader struct {
	Malformed int  // lines or values that are not JSON
	Elided    int  // strings that were cut
	Oversized int  // records that were skipped for their size
	CutTail   bool // the stream ends inside a record: it is still being written, or was cut

	src    io.Reader
	in     []byte // the chunk in hand is in[pos:end]
	pos    int
	end    int
	read   int64 // bytes taken from src
	budget int64 // no more than this is taken once a record was returned; 0: no limit
	gave   int
	eof    bool
	err    error
	buf    []byte // a record that spans chunks
	values int    // objects seen whole
	bad    []int  // which of them are not JSON, ascending
	known  bool   // bad is already known, from an earlier reading of the stream
	brief  bool   // only the beginning matters: strings are cut at 256 KiB, records skipped at 16 MiB
}

// NewReader returns a Reader of the stream.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, in: make([]byte, chunkOf(src))}
}

// chunkOf is how many bytes of a stream are read at once: of a small file, of which
// there are many, no more than it holds.
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

// Next returns the next record, io.EOF at the end, or the stream's error. The
// bytes are good until the next call.
func (r *Reader) Next() ([]byte, error) {
	for {
		r.release()
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

// valid checks a record's syntax, once for each stream: it costs as much as all
// other reading.
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

// peek passes over what may stand between records and shows the next byte.
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

// fill replaces the chunk in hand, all of which must have been used.
func (r *Reader) fill() bool {
	r.pos, r.end = 0, 0
	if r.eof || r.budget > 0 && r.gave > 0 && r.read >= r.budget {
		return false
	}
	for range 100 {
		n, err := r.src.Read(r.in)
		r.read += int64(n)
		r.end = n
		if err != nil {
			r.eof = true
			switch {
			case errors.Is(err, io.EOF):
			case errors.Is(err, io.ErrUnexpectedEOF): // a compressed file that was cut
				r.CutTail = true
			default:
				r.err = err
			}
		}
		if n > 0 {
			return true
		}
		if r.eof {
			return false
		}
	}
	r.eof, r.err = true, io.ErrNoProgress
	return false
}

// release gives back the room of a large record. Waiting for the collector's own
// pace would let the heap grow to twice that room first.
func (r *Reader) release() {
	if cap(r.buf) > keptRecord {
		r.buf = nil
		runtime.GC()
	}
}

// lastObject finds the record that was glued to a line whose writer died: what
// begins like a record and is whole. Nil if there is none.
func lastObject(line []byte) []byte {
	best := -1
	for _, opening := range []string{`{"timestamp":"`, `{"type":"`, `{"parentUuid":`, `{"uuid":"`} {
		best = max(best, bytes.LastIndex(line, []byte(opening)))
	}
	if best <= 0 || !gjson.ValidBytes(line[best:]) {
		return nil
	}
	return line[best:]
}
