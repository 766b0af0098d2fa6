package rollout

import (
	"bytes"
	"io"
	"iter"
)

const (
	wholePiece = 1 << 20   // a value up to this is held whole, and checked before it is put into a record
	pieceSize  = 256 << 10 // of longer ones, this much is held at a time
	fullRecord = 4 << 20   // a message whose parts exceed this goes on in another record
)

// pieces streams records that are put together while they are read, from rows of
// a database or from many files. Reader cuts and checks them as it does a file's.
type pieces struct {
	next func() ([]byte, error, bool)
	stop func()
	rest []byte

	oversized int          // values that were left out for their size
	onClose   func() error // also where seq never began
}

// newPieces streams what seq gives, up to its first error. Closing the stream ends
// seq, which must then let go of what it holds.
func newPieces(seq iter.Seq2[[]byte, error]) *pieces {
	p := &pieces{}
	p.next, p.stop = iter.Pull2(seq)
	return p
}

// Read fails with io.EOF where the pieces end, else with the error of the piece that is next.
func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		piece, err, ok := p.next()
		if !ok {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		p.rest = piece
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Close ends seq, also before its end. The error is that of onClose.
func (p *pieces) Close() error {
	p.stop()
	if p.onClose != nil {
		return p.onClose()
	}
	return nil
}

// onOneLine replaces the line breaks of a printed value, in place: a record is one
// line, so that damage in it ends where it ends.
func onOneLine(raw []byte) []byte {
	for i := bytes.IndexAny(raw, "\r\n"); i < len(raw) && i >= 0; i++ {
		if raw[i] == '\n' || raw[i] == '\r' {
			raw[i] = ' '
		}
	}
	return raw
}
