package ask

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport is standard input and output, with the manners that the SDK leaves to its user.
type transport struct{ mcp.IOTransport }

// Connect implements mcp.Transport.
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.IOTransport.Connect(ctx)
	return &conn{Connection: inner, answered: make(chan struct{}, 1)}, err
}

// conn refuses methods that are unknown even before the client introduced itself, by which clients probe for
// newer protocols, and answers what was asked before the input ended.
type conn struct {
	mcp.Connection
	open     atomic.Int64  // calls without an answer
	answered chan struct{} // told when an answer was written
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
		for err != nil && c.open.Load() > 0 && ctx.Err() == nil {
			select {
			case <-c.answered:
			case <-ctx.Done():
			}
		}
		call, ok := message.(*jsonrpc.Request)
		if err != nil || !ok || !call.IsCall() {
			return message, err
		}
		if slices.Contains(methods, call.Method) {
			c.open.Add(1)
			return message, nil
		}
		unknown := fmt.Sprintf("unknown method %.100q", call.Method)
		if err := c.Connection.Write(ctx, &jsonrpc.Response{ID: call.ID,
			Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: unknown}}); err != nil {
			return nil, err
		}
	}
}

// Write writes a message.
func (c *conn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		c.open.Add(-1)
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}
