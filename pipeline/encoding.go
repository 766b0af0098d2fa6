package pipeline

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how a text is written, as far as its first bytes tell: in UTF-8 or
// anything else that is read as it is, with or without a byte order mark, or in UTF-16 with one.
type Encoding struct {
	mark  string
	order binary.AppendByteOrder // of UTF-16; nil: bytes are read as they are
}

// encodings are those that are told by a mark.
var encodings = []Encoding{{"\xef\xbb\xbf", nil}, {"\xff\xfe", binary.LittleEndian}, {"\xfe\xff", binary.BigEndian}}

// utf32Mark begins as a mark of UTF-16 does.
const utf32Mark = "\xff\xfe\x00\x00"

// Decode returns a reader of the text in UTF-8, without its byte order mark, and how it is
// written. Nothing is lost: what is no legal UTF-16 has a form of its own, which
// Encode knows.
func Decode(r io.Reader) (io.Reader, Encoding, error) {
	head := make([]byte, len(utf32Mark))
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, Encoding{}, err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), r)
	for _, e := range encodings {
		if !strings.HasPrefix(string(head), e.mark) || string(head) == utf32Mark {
			continue
		}
		rest := io.MultiReader(bytes.NewReader(head[len(e.mark):]), r)
		if e.order == nil {
			return rest, e, nil
		}
		return &wideReader{from: rest, order: e.order.(binary.ByteOrder)}, e, nil
	}
	return whole, Encoding{}, nil
}

// Mark is the byte order mark that the text begins with; empty: it has none.
func (e Encoding) Mark() string { return e.mark }

// oddByte stands, in what Decode reads, before the last byte of a text that has half a
// unit too much. It is never a byte of UTF-8.
const oddByte = 0xfe

// Encode writes a stretch of text, of whole characters, as the text was written that Decode
// read.
func (e Encoding) Encode(text string) string {
	if e.order == nil {
		return text
	}
	out := make([]byte, 0, 2*len(text))
	for i := 0; i < len(text); {
		if text[i] == oddByte && i+1 < len(text) {
			out = append(out, text[i+1])
			i += 2
			continue
		}
		if unit, ok := halfPair(text[i:]); ok {
			out = e.order.AppendUint16(out, unit)
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out = e.order.AppendUint16(out, uint16(high))
			r = low
		}
		out = e.order.AppendUint16(out, uint16(r))
		i += size
	}
	return string(out)
}

// halfPair reads half of a surrogate pair, in the bytes that UTF-8 would have for it.
func halfPair(text string) (unit uint16, ok bool) {
	if len(text) < 3 || text[0] != 0xed || text[1] < 0xa0 {
		return 0, false
	}
	return 0xd000 | uint16(text[1]&0x3f)<<6 | uint16(text[2]&0x3f), true
}

// wideReader reads UTF-16 as UTF-8.
type wideReader struct {
	from  io.Reader
	order binary.ByteOrder
	raw   []byte // read and not decoded: less than a character
	text  []byte // decoded and not handed on
	err   error
}

// Read hands on what is decoded. Its error is that of the reader, io.EOF among them.
func (w *wideReader) Read(p []byte) (int, error) {
	for len(w.text) == 0 && w.err == nil {
		chunk := make([]byte, len(w.raw)+32<<10)
		copy(chunk, w.raw)
		n, err := w.from.Read(chunk[len(w.raw):])
		w.raw, w.err = chunk[:len(w.raw)+n], err
		w.decode()
	}
	n := copy(p, w.text)
	w.text = w.text[n:]
	if len(w.text) == 0 && n == 0 {
		return 0, w.err
	}
	return n, nil
}

// decode takes the whole characters from what was read, and the rest, too, once there is
// no more.
func (w *wideReader) decode() {
	at := 0
	for ; at+2 <= len(w.raw); at += 2 {
		r := rune(w.order.Uint16(w.raw[at:]))
		if r >= 0xd800 && r < 0xdc00 { // the first half of a pair
			if at+4 > len(w.raw) && w.err == nil {
				break
			}
			if at+4 <= len(w.raw) {
				if both := utf16.DecodeRune(r, rune(w.order.Uint16(w.raw[at+2:]))); both != utf8.RuneError {
					r = both
					at += 2
				}
			}
		}
		if utf16.IsSurrogate(r) {
			w.text = append(w.text, 0xed, 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
		} else {
			w.text = utf8.AppendRune(w.text, r)
		}
	}
	if w.err != nil && at < len(w.raw) {
		w.text = append(w.text, oddByte, w.raw[at])
		at++
	}
	w.raw = w.raw[at:]
}
