package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"os"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"memoir"
	"memoir/pipeline"
	"memoir/secrets"
)

// maxPiece is the size, in bytes, of the pieces in which scan and redact read a text.
const maxPiece = 1 << 20

type input struct {
	path  string // as a person named it; "-": standard input
	file  *os.File
	text  io.Reader // decoded
	utf16 bool      // it has the byte order mark of UTF-16
}

// openInput opens a file, or standard input for "-", whose text is read by decode. An interrupt ends
// an opening or a read that waits for a pipe. Messages name the file as shown.
func (p *program) openInput(ctx context.Context, path, shown string, decode func(io.Reader) io.Reader) (
	in input, err error) {
	in = input{path: path, file: p.ui.stdin}
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return in, notFoundf("", "%w", err)
		}
		if info.IsDir() {
			return in, usagef("", "%s is a directory", shown)
		}
		in.file, err = interruptibly(ctx, func() (*os.File, error) { return os.Open(path) })
		if err != nil {
			return in, cmp.Or[error](context.Cause(ctx), memoir.Errorf(memoir.CodeUnreadable, "", "%w", err))
		}
	} else if p.ui.inTTY {
		p.ui.say("reading standard input; end it with Ctrl-D")
	}
	r := bufio.NewReader(&interruptible{ctx: ctx, r: in.file})
	const mark = "SQLite format 3\x00"
	if head, _ := r.Peek(len(mark)); string(head) == mark {
		// Its values have no separators, so that rules miss secrets.
		p.ui.warn("dump it as text: `sqlite3 FILE .dump`; `memoir show FILE` reads an agent's own",
			"%s is a database: secrets in it may be missed", shown)
	}
	head, _ := r.Peek(2)
	in.utf16 = string(head) == "\xff\xfe" || string(head) == "\xfe\xff"
	in.text = decode(r)
	return in, nil
}

// decoded reads a text that begins with a byte order mark as UTF-8 without the mark, and any other
// as it is.
func decoded(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(encoding.Nop.NewDecoder()))
}

// lossless is decoded, but fails with errNotUTF16 if the byte order mark of UTF-16 begins anything else.
func lossless(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	head, _ := in.Peek(3)
	orders := map[string]unicode.Endianness{"\xff\xfe": unicode.LittleEndian, "\xfe\xff": unicode.BigEndian}
	order, marked := orders[string(head[:min(2, len(head))])]
	if !marked || len(head) < 3 {
		return decoded(in)
	}
	_, _ = in.Discard(2)
	utf16 := unicode.UTF16(order, unicode.IgnoreBOM)
	return transform.NewReader(in, &utf16Text{Transformer: utf16.NewDecoder(), back: utf16.NewEncoder()})
}

var errNotUTF16 = memoir.Errorf(memoir.CodeInvalid, "convert it to UTF-8, or remove its first two bytes",
	"the text begins with the byte order mark of UTF-16, but is not UTF-16")

// utf16Text decodes UTF-16. It refuses what a decoder would replace, null characters, and a text without any
// ASCII character, which is probably in another encoding.
type utf16Text struct {
	transform.Transformer
	back  *encoding.Encoder
	ascii bool
}

func (t *utf16Text) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = t.Transformer.Transform(dst, src, atEOF)
	text := dst[:nDst]
	t.ascii = t.ascii || bytes.ContainsFunc(text, func(r rune) bool { return r < 0x80 })
	again, _ := t.back.Bytes(text)
	ended := atEOF && err == nil
	if !bytes.Equal(again, src[:nSrc]) || bytes.IndexByte(text, 0) >= 0 || ended && !t.ascii {
		return 0, 0, errNotUTF16
	}
	return nDst, nSrc, err
}

func (in input) close() error {
	if in.path == "-" {
		return nil
	}
	return in.file.Close()
}

// pieces calls fn for each piece of the text and shows the progress.
func (p *program) pieces(ctx context.Context, text io.Reader, fn func(secrets.Piece) error) error {
	done := 0
	return secrets.Pieces(ctx, text, maxPiece, func(piece secrets.Piece) error {
		if done++; !p.ui.outTTY {
			p.ui.progress(pipeline.Progress{Stage: pipeline.StageSearch, Done: done})
		}
		return cmp.Or(fn(piece), p.ui.outBroken)
	})
}

// interruptible reads r until its first error, or until ctx is done. The result of an abandoned read is lost.
type interruptible struct {
	ctx context.Context
	r   io.Reader
	err error // the first; a terminal would be read again after its end
}

// Read reads what is there, at least a byte. Its error is that of the reader, io.EOF among
// them, or the cause of the context that is done.
func (i *interruptible) Read(p []byte) (n int, err error) {
	if i.err == nil {
		own := make([]byte, min(len(p), 64<<10)) // p belongs to the caller again when this returns
		n, i.err = interruptibly(i.ctx, func() (int, error) { return i.r.Read(own) })
		copy(p, own[:n])
	}
	return n, i.err
}

// interruptibly returns what fn returns, or the cause of the context that is done before it.
func interruptibly[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	return pipeline.Apart(ctx, fn)
}

// answersHook reports whether an agent called inject. If the command line was refused before inject
// ran, only standard input can tell.
func (p *program) answersHook() bool {
	if p.hook == nil && p.ui.command == "inject" {
		if in, ok := readHook(p.ui.stdin, injectPatience); ok {
			p.hook = new(caller(in, true, p.getenv))
		}
	}
	return p.hook != nil
}
