package rollout

import (
	"bytes"
)

// A command may outlive the call that started it. The call's result then names a
// handle under which it goes on, and later calls (write_stdin, wait) or an event
// bring the rest of its output and its exit status. These belong to the command's
// own item, which is held until they have come. The first play finds out how long
// that is, so that nothing is held that nobody asks after again.

// codexRunning follows running commands through a play.
type codexRunning struct {
	started map[string]string // by handle: the id of the call that started the command
	asks    map[string]string // by the id of a call without result: the handle that it asks after
}

// A session ends with at most a few commands that still run; more handles than
// this are no session of ours.
const maxHandles = 4096

// call notes a call that asks after a command, if it is one.
func (c *codexRunning) call(kind, id string, p []byte) {
	if len(c.started) == 0 || len(c.asks) >= maxHandles {
		return
	}
	handle := codexAsks(kind, p)
	if handle == "" || c.started[handle] == "" {
		return
	}
	if c.asks == nil {
		c.asks = map[string]string{}
	}
	c.asks[id] = handle
}

// result takes the result of a call. It returns the id of the call that started
// the command: another than id where id only asked after it.
func (c *codexRunning) result(id, goesOn string) (start string) {
	start = id
	if handle, ok := c.asks[id]; ok {
		delete(c.asks, id)
		start = c.started[handle]
		delete(c.started, handle)
		if start == "" { // another call has seen its end
			return id
		}
	}
	if goesOn != "" && len(c.started) < maxHandles {
		if c.started == nil {
			c.started = map[string]string{}
		}
		c.started[goesOn] = start
	}
	return start
}

// codexAsks is the handle of the command that a call asks after, "" if it is no
// such call.
func codexAsks(kind string, p []byte) string {
	name := getText(p, "name")
	switch {
	case kind == "custom_tool_call" && name == "exec":
		if !bytes.Contains(p, []byte("write_stdin")) {
			return ""
		}
		if tool, args := codexScript(getText(p, "input")); tool == "write_stdin" {
			return sessionHandle(scriptArgument(args, "session_id"))
		}
	case name == "write_stdin":
		return sessionHandle(number(get(callArguments(p), "session_id")))
	case name == "wait":
		return cellHandle(number(get(callArguments(p), "cell_id")))
	}
	return ""
}

// typesInto says whether a call that asks after a command also typed into it.
func typesInto(kind string, p []byte) bool {
	if kind == "custom_tool_call" {
		_, args := codexScript(getText(p, "input"))
		return scriptArgument(args, "chars") != ""
	}
	return getText(callArguments(p), "chars") != ""
}

// callArguments are a call's arguments as an object, nil if they are none.
func callArguments(p []byte) []byte {
	arguments := get(p, "arguments")
	if isString(arguments) {
		arguments = []byte(text(arguments))
	}
	if arguments = bytes.TrimSpace(arguments); isObject(arguments) {
		return arguments
	}
	return nil
}

// number is the text of a raw number, or of a string that holds one.
func number(raw []byte) string {
	if isString(raw) {
		return text(raw)
	}
	return string(raw)
}

func sessionHandle(id string) string { return handle("session ", id) }
func cellHandle(id string) string    { return handle("cell ", id) }

func handle(kind, id string) string {
	if id == "" || len(id) > 64 {
		return ""
	}
	return kind + id
}

// mayGoOn is a quick look at a raw result: whether it can be that of a command
// that still runs.
func mayGoOn(p []byte) bool {
	return bytes.Contains(p, []byte("running with ")) || bytes.Contains(p, []byte("session_id"))
}
