package rollout

import "bytes"

// How a value ended.
type ending int

const (
	endWhole     ending = iota
	endBroken           // a new line began inside it
	endDeep             // nested too deep
	endOversized        // more than maxRecord
	endCut              // the stream ended inside it
)

// value reads the object that begins at in[pos].
func (r *Reader) value() ([]byte, ending) {
	r.buf = r.buf[:0]
	s := splitter{Reader: r, start: r.pos, i: r.pos, bound: r.stringBound()}
	for {
		if s.i == r.end && !s.more() {
			return nil, endCut
		}
		if s.inString {
			if !s.passString() {
				return r.buf, endBroken
			}
		} else if raw, how, done := s.passStructure(); done {
			return raw, how
		}
	}
}

// splitter finds the end of an object. It passes over strings with IndexByte, which is
// what makes it faster than the disk.
type splitter struct {
	*Reader
	bound    int // of a string, in bytes
	start    int // in[start:i] is read and not yet in buf
	i        int
	depth    int
	inString bool
	odd      bool // an odd number of backslashes stands before in[i], in a string
	strPos   int  // where the string began, as an offset in the value
	dropping bool // the rest of the string is not wanted
	deep     bool
	over     bool
	fresh    bool // in[i] is the first byte of a line
}

// keep moves in[start:to] to buf.
func (s *splitter) keep(to int) {
	if s.over || s.deep {
		return
	}
	if len(s.buf)+to-s.start > s.recordBound() {
		s.over = true
		return
	}
	s.grow(to - s.start)
	s.buf = append(s.buf, s.in[s.start:to]...)
}

// cut shortens the string at the end of buf.
func (s *splitter) cut() {
	if s.over || s.deep {
		return
	}
	s.Elided++
	s.buf = s.buf[:s.strPos+headLen(s.buf[s.strPos:], s.bound)]
}

// more keeps the chunk in hand and takes the next one; false at the stream's end.
func (s *splitter) more() bool {
	if !s.dropping {
		s.keep(s.i)
		if s.inString && len(s.buf)-s.strPos > s.bound {
			s.cut()
			s.dropping = true
		}
	}
	s.i, s.start = 0, 0
	return s.fill()
}

// passString passes over a string up to its end or the chunk's. It fails at a line
// break, which JSON does not have in a string: pos is then after it.
func (s *splitter) passString() bool {
	seg := s.in[s.i:s.end]
	k := bytes.IndexByte(seg, '"')
	if k >= 0 {
		seg = seg[:k]
	}
	if nl := bytes.IndexByte(seg, '\n'); nl >= 0 {
		if !s.dropping {
			s.keep(s.i + nl)
		}
		s.pos = s.i + nl + 1
		return false
	}
	slashes := 0
	for slashes < len(seg) && seg[len(seg)-1-slashes] == '\\' {
		slashes++
	}
	s.odd = (slashes%2 == 1) != (s.odd && slashes == len(seg))
	s.i += len(seg)
	if k < 0 {
		return true
	}
	if s.odd { // the quotation mark is part of the string
		s.odd = false
		s.i++
		return true
	}
	if s.dropping {
		s.dropping, s.start = false, s.i
	} else if len(s.buf)+s.i-s.start-s.strPos > s.bound {
		s.keep(s.i)
		s.cut()
		s.start = s.i
	}
	s.inString = false
	s.i++
	return true
}

// passStructure passes over what is not in strings up to the next string, the chunk's
// end, or the object's: then it is done, and pos is after the object.
func (s *splitter) passStructure() (raw []byte, how ending, done bool) {
	for ; s.i < s.end; s.i++ {
		switch s.in[s.i] {
		case '"':
			s.inString, s.odd, s.fresh = true, false, false
			s.i++
			s.strPos = len(s.buf) + s.i - s.start
			return nil, 0, false
		case '{', '[':
			// A record may be printed over several lines, but a new one never
			// begins in its middle: the writer died and another went on.
			if s.fresh && s.depth > 0 && s.in[s.i] == '{' {
				s.keep(s.i)
				s.pos = s.i
				return s.buf, endBroken, true
			}
			s.fresh = false
			s.depth++
			s.deep = s.deep || s.depth > maxDepth
		case '}', ']':
			s.fresh = false
			if s.depth--; s.depth <= 0 {
				raw, how = s.whole()
				return raw, how, true
			}
		case '\n':
			s.fresh = true
		default:
			s.fresh = false
		}
	}
	return nil, 0, false
}

// whole gives the object that ends at in[i].
func (s *splitter) whole() ([]byte, ending) {
	s.pos = s.i + 1
	switch {
	case s.deep:
		return nil, endDeep
	case len(s.buf) == 0 && !s.over:
		return s.in[s.start:s.pos], endWhole
	}
	s.keep(s.pos)
	if s.over {
		return nil, endOversized
	}
	return s.buf, endWhole
}

func (r *Reader) stringBound() int {
	if r.brief {
		return maxString / 4
	}
	return maxString
}

func (r *Reader) recordBound() int {
	if r.brief {
		return maxRecord / 4
	}
	return maxRecord
}

// grow makes room for n bytes. A record beyond 4 MiB gets the whole bound at
// once: pages that are never touched cost nothing, copies of 32 MiB would.
func (r *Reader) grow(n int) {
	need := len(r.buf) + n
	if need <= cap(r.buf) {
		return
	}
	size := max(2*cap(r.buf), need, chunkSize)
	if size > keptRecord {
		size = maxRecord + chunkSize
	}
	buf := make([]byte, len(r.buf), size)
	copy(buf, r.buf)
	r.buf = buf
}

// headLen returns how much of a too long string's raw bytes to keep: up to the
// last white space, raw or escaped, in its first bound bytes.
func headLen(raw []byte, bound int) int {
	last := 0
	for i := 0; i < min(len(raw), bound); i++ {
		switch raw[i] {
		case ' ':
			last = i
		case '\\':
			if i+1 < len(raw) {
				switch raw[i+1] {
				case 'n', 'r', 't':
					last = i
				}
			}
			i++
		}
	}
	return last
}
