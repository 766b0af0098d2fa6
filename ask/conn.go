package ask

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// grace bounds the wait for a client that does not read its answers after ctx is done.
const grace = time.Second

// Serve serves a client until its input ends or ctx is done. The end of the input is not an error.
func Serve(ctx context.Context, m *mcp.Server, in io.ReadCloser, out io.WriteCloser) error {
	l := &lines{Scanner: bufio.NewScanner(in), Closer: in, out: out}
	l.Buffer(nil, maxLine)
	l.Split(l.split)
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx, transport{&mcp.IOTransport{Reader: l, Writer: out, MaxLineLength: -1}}) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(grace):
		return ctx.Err()
	}
}

// maxLine bounds a client's message, in bytes. Several copies of one are in memory at a time.
const maxLine = 4 << 20

// lines reads a client's messages, one per line. It answers an invalid line with an error, since the SDK would end the
// connection.
type lines struct {
	*bufio.Scanner
	io.Closer
	out  io.Writer
	rest []byte // of the current line
	long bool   // the current line is too long and is skipped
}

// split is bufio.ScanLines with a limit. It reduces a line that is too long to its end, prefixed with "!" to make the
// line invalid.
func (l *lines) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	advance, line, err = bufio.ScanLines(data, atEOF)
	if l.long && line != nil {
		l.long, line = false, append([]byte("!"), line...)
	} else if advance == 0 && len(data) >= maxLine {
		advance, l.long = len(data), true
	}
	return advance, line, err
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if !l.Scan() {
			return 0, cmp.Or(l.Err(), io.EOF)
		}
		line := bytes.TrimSpace(l.Bytes())
		valid := json.Valid(line) // false for two messages in one line
		if _, err := jsonrpc.DecodeMessage(line); err == nil && valid {
			l.rest = slices.Concat(line, []byte("\n"))
		} else if len(line) > 0 {
			code := jsonrpc.CodeParseError
			if valid {
				code = jsonrpc.CodeInvalidRequest
			}
			_, err := fmt.Fprintf(l.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"the line is not a message"}}
`, code)
			if err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

type transport struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t transport) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.Transport.Connect(ctx)
	c := &conn{Connection: inner}
	c.ended, c.end = context.WithCancel(context.Background())
	return c, err
}

// conn is a connection that answers all calls before it reports the end of the input.
type conn struct {
	mcp.Connection
	ids   sync.Map // of open calls
	open  sync.WaitGroup
	ended context.Context
	end   func()
}

// Close implements mcp.Connection. It ends the wait of Read, since the SDK sends no answers after it.
func (c *conn) Close() error {
	c.end()
	return c.Connection.Close()
}

// Read returns the next message. At the end of the input it first waits for the answers to all calls, except
// subscriptions, which are answered when the connection ends.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		answered := make(chan struct{})
		go func() {
			c.open.Wait()
			close(answered)
		}()
		select {
		case <-answered:
		case <-c.ended.Done():
		}
	}
	if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() && call.Method != "subscriptions/listen" {
		if _, twice := c.ids.LoadOrStore(call.ID, true); !twice {
			c.open.Add(1)
		}
	}
	return message, err
}

// Write writes a message. It adds the code of an unknown method to errors without a code: the SDK returns them for
// calls before initialize, with which clients probe for newer protocols.
func (c *conn) Write(ctx context.Context, message jsonrpc.Message) error {
	if answer, ok := message.(*jsonrpc.Response); ok {
		if coded := (*jsonrpc.Error)(nil); answer.Error != nil && !errors.As(answer.Error, &coded) {
			answer.Error = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: answer.Error.Error()}
		}
		if _, open := c.ids.LoadAndDelete(answer.ID); open {
			defer c.open.Done()
		}
	}
	return c.Connection.Write(ctx, message)
}
