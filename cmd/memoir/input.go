package main

import (
	"bufio"
	"context"
	"io"
	"os"

	"memoir"
)

// openInput opens what a person wants to have read. Where somebody else has to write
// first, as with a named pipe, an interrupt ends the waiting.
func openInput(ctx context.Context, path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeNotFound, "", "%w", err)
	}
	if info.Mode().IsRegular() {
		f, err := os.Open(path)
		return f, unreadableFile(err)
	}
	if info.IsDir() {
		return nil, memoir.Errorf(memoir.CodeUsage, "", "%s is a directory", path)
	}
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := os.Open(path)
		opened <- result{f, err}
	}()
	select {
	case o := <-opened:
		if o.err != nil {
			return nil, unreadableFile(o.err)
		}
		return struct {
			io.Reader
			io.Closer
		}{&interruptible{ctx: ctx, r: o.f}, o.f}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func unreadableFile(err error) error {
	if err == nil {
		return nil
	}
	return memoir.Errorf(memoir.CodeUnreadable, "", "%w", err)
}

// readable is what is read of a file, with a warning if it is a database: its values touch one
// another, so that no rule sees where a secret begins and ends.
func (u *ui) readable(path string, r io.Reader) io.Reader {
	const mark = "SQLite format 3\x00"
	b := bufio.NewReader(r)
	if head, _ := b.Peek(len(mark)); string(head) == mark {
		if path == "" || path == "-" {
			path = "standard input"
		}
		u.warn("have its content as text: `sqlite3 FILE .dump`; `memoir show FILE` reads an agent's own", "%s is a database: secrets in it may be missed", path)
	}
	return b
}
