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

// value reads the object that begins at in[pos]. Strings are passed over with
// IndexByte, which is what makes this faster than the disk.
func (r *Reader) value() ([]byte, ending) {
	r.buf = r.buf[:0]
	bound := r.stringBound()
	var (
		start    = r.pos // in[start:i] is read and not yet in buf
		i        = r.pos
		depth    int
		inString bool
		odd      bool // an odd number of backslashes stands before in[i], in a string
		strPos   int  // where the string began, as an offset in the value
		dropping bool // the rest of the string is not wanted
		deep     bool
		over     bool
		fresh    bool // in[i] is the first byte of a line
	)
	keep := func(to int) { // moves in[start:to] to buf
		if over || deep {
			return
		}
		if len(r.buf)+to-start > r.recordBound() {
			over = true
			return
		}
		r.grow(to - start)
		r.buf = append(r.buf, r.in[start:to]...)
	}
	cut := func() { // shortens the string at the end of buf
		if over || deep {
			return
		}
		r.Elided++
		r.buf = r.buf[:strPos+headLen(r.buf[strPos:], bound)]
	}
	for {
		if i == r.end {
			if !dropping {
				keep(i)
				if inString && len(r.buf)-strPos > bound {
					cut()
					dropping = true
				}
			}
			if !r.fill() {
				return nil, endCut
			}
			i, start = 0, 0
		}
		if inString {
			seg := r.in[i:r.end]
			k := bytes.IndexByte(seg, '"')
			if k >= 0 {
				seg = seg[:k]
			}
			if nl := bytes.IndexByte(seg, '\n'); nl >= 0 { // JSON has no line break in a string
				if !dropping {
					keep(i + nl)
				}
				r.pos = i + nl + 1
				return r.buf, endBroken
			}
			slashes := 0
			for slashes < len(seg) && seg[len(seg)-1-slashes] == '\\' {
				slashes++
			}
			odd = (slashes%2 == 1) != (odd && slashes == len(seg))
			i += len(seg)
			if k < 0 {
				continue
			}
			if odd {
				odd = false
				i++
				continue
			}
			if dropping {
				dropping, start = false, i
			} else if len(r.buf)+i-start-strPos > bound {
				keep(i)
				cut()
				start = i
			}
			inString = false
			i++
			continue
		}
	outside:
		for ; i < r.end; i++ {
			switch r.in[i] {
			case '"':
				inString, odd, fresh = true, false, false
				i++
				strPos = len(r.buf) + i - start
				break outside
			case '{', '[':
				// A record may be printed over several lines, but a new one never
				// begins in its middle: the writer died and another went on.
				if fresh && depth > 0 && r.in[i] == '{' && !r.pretty {
					keep(i)
					r.pos = i
					return r.buf, endBroken
				}
				fresh = false
				depth++
				if depth > maxDepth {
					deep = true
				}
			case '}', ']':
				fresh = false
				depth--
				if depth > 0 {
					continue
				}
				r.pos = i + 1
				switch {
				case deep:
					return nil, endDeep
				case len(r.buf) == 0 && !over:
					return r.in[start : i+1], endWhole
				}
				keep(i + 1)
				if over {
					return nil, endOversized
				}
				return r.buf, endWhole
			case '\n':
				fresh = true
			default:
				fresh = false
			}
		}
	}
}

func (r *Reader) stringBound() int {
	if r.brief {
		return maxString / 4
	}
	return maxString
}

func (r *Reader) recordBound() int {
	if r.brief {
		return maxRecord / 8
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
