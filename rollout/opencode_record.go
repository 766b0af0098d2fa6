package rollout

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/tidwall/gjson"
)

// jsonValue is the JSON of a message or a part, as a row or a file holds it.
type jsonValue struct {
	id     string                   // to be put into it, where it is kept beside it; "" if it is inside
	whole  []byte                   // nil if it is too long to be held
	pieces iter.Seq2[[]byte, error] // of a long one
}

// recordWriter puts values together to records, one a line.
type recordWriter struct {
	yield func([]byte, error) bool
	ended bool // nobody wants more, or there was an error
}

func (w *recordWriter) put(b []byte) {
	if !w.ended && len(b) > 0 {
		w.ended = !w.yield(b, nil)
	}
}

func (w *recordWriter) fail(err error) {
	if !w.ended {
		w.yield(nil, err)
		w.ended = true
	}
}

// message writes a message: its info, and the parts for which the loop over them
// calls the given function until that says no. A value that is no object is left
// out; a line that is no record stands for it, and is counted as such.
func (w *recordWriter) message(info jsonValue, parts func(part func(jsonValue) bool)) {
	if !info.fits() {
		w.put([]byte("!\n"))
		return
	}
	var held, inRecord, bad int
	begin := func() {
		w.put([]byte(`{"info":`))
		w.value(info)
		w.put([]byte(`,"parts":[`))
	}
	begin()
	parts(func(v jsonValue) bool {
		switch {
		case !v.fits():
			bad++
			return !w.ended
		case held > fullRecord && info.whole != nil:
			w.put([]byte("]}\n"))
			begin()
			held, inRecord = 0, 0
		case inRecord > 0:
			w.put([]byte(","))
		}
		inRecord++
		held += w.value(v)
		return !w.ended
	})
	w.put([]byte("]}\n"))
	w.put(bytes.Repeat([]byte("!\n"), bad))
}

// fits reports whether a value can be put into a record without harm to it. Long
// ones are found out by whoever reads the record.
func (v jsonValue) fits() bool {
	return v.pieces != nil || isObject(bytes.TrimLeft(v.whole, " \t\r\n")) && gjson.ValidBytes(v.whole)
}

// value writes a value on one line and says how long it was.
func (w *recordWriter) value(v jsonValue) (size int) {
	pieces := v.pieces
	if pieces == nil {
		pieces = func(yield func([]byte, error) bool) { yield(bytes.Clone(v.whole), nil) }
	}
	first := true
	for piece, err := range pieces {
		if err != nil {
			w.fail(err)
			return size
		}
		piece = onOneLine(piece)
		size += len(piece)
		if first && v.id != "" {
			if i := bytes.IndexByte(piece, '{'); i >= 0 {
				w.put(withID(v.id, piece[i+1:]))
				piece = piece[i+1:]
			}
		}
		first = false
		w.put(piece)
		if w.ended {
			return size
		}
	}
	return size
}

// withID begins an object with an id; rest is what follows its brace.
func withID(id string, rest []byte) []byte {
	quoted, err := json.Marshal(id)
	if err != nil { // no string fails
		return []byte("{")
	}
	out := append([]byte(`{"id":`), quoted...)
	if i := blankEnd(rest, 0); i < len(rest) && rest[i] != '}' {
		out = append(out, ',')
	}
	return out
}
