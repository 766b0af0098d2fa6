package secrets

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
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
	head    int // of a table, which all pieces of it begin with
}

const (
	beyond       = 64 << 10
	maxLine      = 8 << 20
	maxTableHead = 4 << 10
)

// Pieces hands a text on in pieces whose parts are of at most size bytes, so that texts of
// any length can be looked through for secrets. Parts end at line ends; where a line is
// longer than size, the part is, too, up to maxLine, and the last part may be
// as much longer as a piece goes beyond it. At most beyond bytes stand in a piece on each side of its part,
// whole lines where they are not longer, and before them the head of a table that began
// further up. The error is that of r, of fn, or the cause
// of the context that is done.
func Pieces(ctx context.Context, r io.Reader, size int, fn func(Piece) error) error {
	return pieces(ctx, r, pieceSizes{size, beyond, maxLine, maxTableHead}, fn)
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
	start  int    // of the next part
	last   bool   // held ends with the text
	line   int    // line breaks before held
	column int    // characters before held of the line that it begins in
	first  int    // of the paragraph that the next part begins in; -1: before held
	table  string // that paragraph's first line if it stood before held and may be the head of a table
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
	p := Piece{
		Text:   c.table + string(c.held[:to]),
		Start:  len(c.table) + c.start,
		End:    len(c.table) + end,
		Line:   c.line,
		Column: c.column,
	}
	if c.table != "" {
		p.Line--
	}
	return p
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
	c.keepTable(from, end)
	gone := c.held[:from]
	if i := bytes.LastIndexByte(gone, '\n'); i >= 0 {
		c.line += bytes.Count(gone, []byte("\n"))
		c.column = 0
		gone = gone[i+1:]
	}
	if c.column += utf8.RuneCount(gone); c.column > 0 {
		c.table = "" // what would stand below it is no row
	}
	c.held = append(c.held[:0], c.held[from:]...)
	c.start = end - from
}

// keepTable keeps the head of the table that may go on behind the end of a part, if it
// stands in what is let go of.
func (c *cutter) keepTable(from, end int) {
	if i := bytes.LastIndex(c.held[:end], []byte("\n\n")); i >= 0 {
		c.first = max(c.first, i+2)
	}
	if i := bytes.LastIndex(c.held[:end], []byte("\n\r\n")); i >= 0 {
		c.first = max(c.first, i+3)
	}
	if c.first < 0 {
		return
	}
	c.table = ""
	if c.first < from {
		length := bytes.IndexByte(c.held[c.first:min(end, c.first+c.head)], '\n') + 1
		if line := c.held[c.first : c.first+length]; bytes.ContainsAny(line, ",;\t|│(") {
			c.table = string(line)
		}
	}
	c.first = max(-1, c.first-from)
}

// Encoding is how a text is written, as far as its first bytes tell: in UTF-8 or anything
// else that is read as it is, with or without a byte order mark, or in UTF-16 with one.
type Encoding struct {
	mark string
	wide encoding.Encoding // UTF-16; nil: bytes are read as they are
}

// encodings are those that are told by a mark.
var encodings = []Encoding{
	{"\xef\xbb\xbf", nil},
	{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
}

// utf32Mark begins as a mark of UTF-16 does.
const utf32Mark = "\xff\xfe\x00\x00"

// Decode returns a reader of the text in UTF-8, without its byte order mark, and how it is
// written. What is not legal UTF-16 is read as U+FFFD.
func Decode(r io.Reader) (io.Reader, Encoding, error) {
	head := make([]byte, len(utf32Mark))
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, Encoding{}, err
	}
	head = head[:n]
	for _, e := range encodings {
		if !bytes.HasPrefix(head, []byte(e.mark)) || string(head) == utf32Mark {
			continue
		}
		rest := io.MultiReader(bytes.NewReader(head[len(e.mark):]), r)
		if e.wide != nil {
			rest = e.wide.NewDecoder().Reader(rest)
		}
		return rest, e, nil
	}
	return io.MultiReader(bytes.NewReader(head), r), Encoding{}, nil
}

// Mark is the byte order mark that the text begins with; empty: it has none.
func (e Encoding) Mark() string { return e.mark }

// Encode writes a stretch of text, of whole characters, as the text was written that Decode
// read.
func (e Encoding) Encode(text string) string {
	if e.wide == nil {
		return text
	}
	out, err := e.wide.NewEncoder().String(text)
	if err != nil { // UTF-16 has all characters
		return text
	}
	return out
}
