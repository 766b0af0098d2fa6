package secrets

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"
)

// Piece is a part of a longer text. The text around the part shows secrets that cross its ends or depend on their
// context.
type Piece struct {
	Text       string
	Start, End int // byte range of the part in Text
	Line       int // line breaks before Text
	Column     int // characters before Text on its first line
}

// Part returns the part without the text around it.
func (p Piece) Part() string { return p.Text[p.Start:p.End] }

// pieceSizes bounds pieces, in bytes.
type pieceSizes struct {
	part    int // at most, except for a longer line
	beyond  int // text before and after a part
	longest int // line that is not cut
}

const (
	beyond  = 64 << 10
	maxLine = 8 << 20
)

// Pieces reads a text of any length and calls fn for each piece. A part has at most size bytes and ends at a line
// end. A line longer than size is one part. A line longer than maxLine is cut after a word. The last part may have
// up to beyond bytes more. A piece has at most beyond bytes on each side of its part, as whole lines if possible.
// The error is from r or fn, or it is the cause of the cancelled context.
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

// cutter holds the part of a text that was read and is still needed.
type cutter struct {
	pieceSizes
	held   []byte
	start  int  // of the next part
	last   bool // held includes the end of the text
	line   int  // line breaks before held
	column int  // characters before held on its first line
}

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

// cut returns the end of the next part. It reports false if more text must be read.
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

// cutWord returns the offset at which a line that is too long is cut: after a word, or between two characters.
func cutWord(line []byte) int {
	if i := bytes.LastIndexAny(line[len(line)/2:], " \t,;\"'"); i >= 0 {
		return len(line)/2 + i + 1
	}
	return characterStart(line, len(line)-1)
}

// characterStart returns the last offset up to at that is not inside a character.
func characterStart(text []byte, at int) int {
	for i := at; i > max(0, at-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// piece returns the part that ends at end, with the text around it.
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

// drop discards the text that is not needed after the end of a part.
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
