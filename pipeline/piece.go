package pipeline

import (
	"bytes"
	"context"
	"io"
)

// Pieces hands a text on in pieces of at most size bytes, so that texts of any length can be
// looked through for secrets. Pieces end at line ends, where there are any, and not in a
// block between BEGIN and END lines, unless it is longer than maxBlock. The error is that of
// r, of fn, or the cause of the context that is done.
func Pieces(ctx context.Context, r io.Reader, size int, fn func(string) error) error {
	buffer := make([]byte, 0, min(64<<10, size))
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(buffer) == cap(buffer) {
			buffer = append(make([]byte, 0, min(2*cap(buffer), size)), buffer...)
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF {
			if len(buffer) == 0 {
				return nil
			}
			return fn(string(buffer))
		}
		if len(buffer) < size {
			continue
		}
		cut := cutOf(buffer)
		if err := fn(string(buffer[:cut])); err != nil {
			return err
		}
		buffer = append(buffer[:0], buffer[cut:]...)
	}
}

// maxBlock bounds how much is held back so that a block stays in one piece, in bytes.
const maxBlock = 64 << 10

// cutOf is where a full buffer is cut.
func cutOf(buffer []byte) int {
	cut := bytes.LastIndexByte(buffer, '\n') + 1
	if cut == 0 {
		return len(buffer)
	}
	begin := bytes.LastIndex(buffer[:cut], []byte("-----BEGIN "))
	if begin < 0 || cut-begin > maxBlock || bytes.Contains(buffer[begin:cut], []byte("-----END ")) {
		return cut
	}
	if line := bytes.LastIndexByte(buffer[:begin], '\n') + 1; line > 0 {
		return line
	}
	return cut
}
