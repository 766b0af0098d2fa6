package ask

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport is one of the SDK's, with the manners that it leaves to its user.
type transport struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t transport) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.Transport.Connect(ctx)
	return &conn{Connection: inner, answered: make(chan struct{}, 1)}, err
}

// conn refuses methods that are unknown even before the client introduced itself, by which clients probe for
// newer protocols, and answers what was asked before the input ended.
type conn struct {
	mcp.Connection
	open     sync.Map      // ids of calls without an answer
	answered chan struct{} // told when an answer was written
}

// methods are those that the SDK answers, or refuses in its own words.
var methods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
	"resources/templates/list", "prompts/list", "prompts/get", "logging/setLevel", "completion/complete",
	"resources/subscribe", "resources/unsubscribe", listen,
}

// listen is answered when the connection ends.
const listen = "subscriptions/listen"

// Read returns the next message. At the end of the input it first waits for the answers to all calls.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		message, err := c.Connection.Read(ctx)
		for err != nil && c.waiting() && ctx.Err() == nil {
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
			if call.Method != listen {
				c.open.Store(call.ID, true)
			}
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
	if answer, ok := message.(*jsonrpc.Response); ok {
		c.open.Delete(answer.ID)
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *conn) waiting() (open bool) {
	c.open.Range(func(_, _ any) bool {
		open = true
		return false
	})
	return open
}
