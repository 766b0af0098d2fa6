package secrets

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"
)

// Piece is a part of a longer text, with so much of what stands around it that a secret is
// told which lies over its edge, or which is one by what stands beyond it.
type Piece struct {
	Text       string
	Start, End int // the part, in bytes of Text
	Line       int // line breaks before Text
	Column     int // characters before Text of the line that it begins in
}

// Part is the part itself.
func (p Piece) Part() string { return p.Text[p.Start:p.End] }

// pieceSizes are the bounds of pieces, in bytes.
type pieceSizes struct {
	part    int // at most, but for a line that is longer
	beyond  int // of what stands before a part, and of what stands behind it
	longest int // line that is handed on whole; longer ones are cut where a word ends
}

const (
	beyond  = 64 << 10
	maxLine = 8 << 20
)

// Pieces hands a text on in pieces whose parts are of at most size bytes, so that texts of
// any length can be looked through for secrets. Parts end at line ends; where a line is
// longer than size, the part is, too, up to maxLine, and the last part may be
// as much longer as a piece goes beyond it. At most beyond bytes stand in a piece on each side of its
// part, whole lines where they are not longer. The error is that of r, of fn, or the cause of the
// context that is done.
func Pieces(ctx context.Context, r io.Reader, size int, fn func(Piece) error) error {
	return pieces(ctx, r, pieceSizes{size, beyond, maxLine}, fn)
}

func pieces(ctx context.Context, r io.Reader, sizes pieceSizes, fn func(Piece) error) error {
	c := cutter{pieceSizes: sizes}
	least := sizes.part + sizes.beyond
	for wanted := least; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !c.last && len(c.held)-c.start < wanted {
			if err := c.read(r, wanted); err != nil {
				return err
			}
			continue
		}
		end, ok := c.cut()
		if !ok {
			wanted = min(2*wanted, sizes.longest+sizes.beyond)
			continue
		}
		if end == c.start {
			return nil
		}
		if err := fn(c.piece(end)); err != nil {
			return err
		}
		c.drop(end)
		wanted = least
	}
}

// cutter holds what of a text was read and may be needed again.
type cutter struct {
	pieceSizes
	held   []byte
	start  int  // of the next part
	last   bool // held ends with the text
	line   int  // line breaks before held
	column int  // characters before held of the line that it begins in
}

// read reads once.
func (c *cutter) read(r io.Reader, wanted int) error {
	wanted += c.start
	if len(c.held) == cap(c.held) {
		c.held = append(make([]byte, 0, min(max(2*cap(c.held), 64<<10), wanted)), c.held...)
	}
	n, err := r.Read(c.held[len(c.held):min(cap(c.held), wanted)])
	c.held = c.held[:len(c.held)+n]
	if err == io.EOF {
		c.last, err = true, nil
	}
	return err
}

// cut returns where the next part ends; false: more has to be read to tell.
func (c *cutter) cut() (end int, ok bool) {
	rest := c.held[c.start:]
	if c.last && len(rest) <= c.part+c.beyond {
		return len(c.held), true
	}
	end = bytes.LastIndexByte(rest[:c.part], '\n') + 1
	if end == 0 {
		end = c.part + bytes.IndexByte(rest[c.part:min(len(rest), c.longest)], '\n') + 1
	}
	switch {
	case rest[end-1] == '\n':
	case len(rest) >= c.longest:
		end = cutWord(rest[:c.longest])
	case c.last:
		end = len(rest)
	default:
		return 0, false
	}
	return c.start + end, c.last || end+c.beyond <= len(rest)
}

// cutWord is where a line is cut that is too long: behind a word, or at least not inside of
// a character.
func cutWord(line []byte) int {
	if i := bytes.LastIndexAny(line[len(line)/2:], " \t,;\"'"); i >= 0 {
		return len(line)/2 + i + 1
	}
	return characterStart(line, len(line)-1)
}

// characterStart is the last offset up to at that no character reaches over.
func characterStart(text []byte, at int) int {
	for i := at; i > max(0, at-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// piece is the part that ends there, with what stands around it.
func (c *cutter) piece(end int) Piece {
	to := len(c.held)
	if to > end+c.beyond {
		to = characterStart(c.held, end+c.beyond)
		if i := bytes.LastIndexByte(c.held[end:to], '\n'); i >= 0 {
			to = end + i + 1
		}
	}
	return Piece{Text: string(c.held[:to]), Start: c.start, End: end, Line: c.line, Column: c.column}
}

// drop lets go of what is not needed behind the end of a part.
func (c *cutter) drop(end int) {
	from := 0
	if end > c.beyond {
		from = characterStart(c.held, end-c.beyond)
		if c.held[from-1] != '\n' {
			if i := bytes.IndexByte(c.held[from:end], '\n'); i >= 0 && from+i+1 < end {
				from += i + 1
			}
		}
	}
	gone := c.held[:from]
	if i := bytes.LastIndexByte(gone, '\n'); i >= 0 {
		c.line += bytes.Count(gone, []byte("\n"))
		c.column = 0
		gone = gone[i+1:]
	}
	c.column += utf8.RuneCount(gone)
	c.held = append(c.held[:0], c.held[from:]...)
	c.start = end - from
}
