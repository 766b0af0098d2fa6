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

// grace is how long a server that is to end waits for answers that a client does not read.
const grace = time.Second

// Serve answers a client until its input ends, which is normal at any time, or ctx is done.
func Serve(ctx context.Context, m *mcp.Server, in io.ReadCloser, out io.WriteCloser) error {
	l := &lines{Scanner: bufio.NewScanner(in), Closer: in, out: out}
	l.Buffer(nil, mcp.DefaultMaxLineLength)
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

// lines reads a client's messages, one a line, and refuses lines that are none: the SDK would end the connection.
type lines struct {
	*bufio.Scanner
	io.Closer
	out  io.Writer
	rest []byte // of a line
	long bool   // a line that is too long is skipped
}

// split is bufio.ScanLines. Of a line that is too long it yields the end, behind a byte that no message begins with.
func (l *lines) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	advance, line, err = bufio.ScanLines(data, atEOF)
	if l.long && line != nil {
		l.long, line = false, append([]byte("!"), line...)
	} else if advance == 0 && len(data) >= mcp.DefaultMaxLineLength {
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
		valid := json.Valid(line) // not so with a second message in the line
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

// transport is one of the SDK's, with the manners that it leaves to its user.
type transport struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t transport) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.Transport.Connect(ctx)
	c := &conn{Connection: inner}
	c.ended, c.end = context.WithCancel(context.Background())
	return c, err
}

// conn answers what was asked before the input ended.
type conn struct {
	mcp.Connection
	ids   sync.Map // of calls without an answer
	open  sync.WaitGroup
	ended context.Context
	end   func()
}

// Close implements mcp.Connection. The SDK gives no answers to a connection that it closes.
func (c *conn) Close() error {
	c.end()
	return c.Connection.Close()
}

// Read returns the next message. At the end of the input it first waits for the answers to all calls but those that
// are answered when the connection ends.
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

// Write writes a message. What comes before initialize the SDK refuses without a code, and so clients probe for newer
// protocols: the method is not available.
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
