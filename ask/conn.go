package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport is the standard input and output of the process, with the manners that the SDK leaves to its user.
type transport struct{ mcp.IOTransport }

// Connect implements mcp.Transport.
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.IOTransport.Connect(ctx)
	return &conn{Connection: inner, open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1)}, err
}

// conn refuses methods that are unknown even before the client introduced itself, by which clients probe for
// newer protocols, and answers what was asked before the input ended.
type conn struct {
	mcp.Connection
	mu       sync.Mutex
	open     map[jsonrpc.ID]bool // calls without an answer
	answered chan struct{}       // told when an answer was written
}

// methods are those that the SDK answers, or refuses in its own words.
var methods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
	"resources/templates/list", "prompts/list", "prompts/get", "logging/setLevel", "completion/complete",
	"resources/subscribe", "resources/unsubscribe", "subscriptions/listen",
}

// Read returns the next message. At the end of the input it first waits for the answers to all calls.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		message, err := c.Connection.Read(ctx)
		if err != nil {
			c.wait(ctx)
		}
		call, ok := message.(*jsonrpc.Request)
		if err != nil || !ok || !call.IsCall() {
			return message, err
		}
		if slices.Contains(methods, call.Method) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.open[call.ID] = true
			return message, nil
		}
		refusal := &jsonrpc.Response{ID: call.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound,
			Message: fmt.Sprintf("method not found: %.100q", call.Method)}}
		if err := c.Connection.Write(ctx, refusal); err != nil {
			return nil, err
		}
	}
}

// Write writes a message.
func (c *conn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if answer, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, answer.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// wait waits until no call is open.
func (c *conn) wait(ctx context.Context) {
	for {
		c.mu.Lock()
		left := len(c.open)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-ctx.Done():
			return
		}
	}
}

// ended is the error with which a connection ended; nil if its input ended.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
