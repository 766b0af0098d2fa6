package main

import (
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
