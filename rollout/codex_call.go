package rollout

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

func (r *codexReader) call(l codexLine) {
	p, id := l.payload, callID(l.payload)
	tool, input, dir := codexCall(l.sub, p)
	w := r.w
	w.cwd = inTurn(dir, w.cwd)
	r.e.call(id, tool, input, w)
	if strings.HasSuffix(tool, "create_goal") { // the agent sets the goal, not the person
		r.goals[textHash(strings.TrimSpace(getText([]byte(input), "objective")))] = true
	}
	r.running.call(l.sub, id, p)
	if l.sub == "custom_tool_call" && getText(p, "name") == "exec" {
		r.cells.begin(id)
	}
}

// result joins a result to its call. If the command is still running and later calls poll it, its result waits for the
// rest. The results of polling calls are added to it; a polling call is an item of its own only if it sends input.
func (r *codexReader) result(at place, l codexLine) {
	id := callID(l.payload)
	o := codexOutput(l.payload, r.e.waiting(id))
	r.cells.end(id, &o)
	start := r.running.result(id, o.goesOn)
	until, followed := r.plan.until[textHash(start)]
	asked := r.e.waiting(start)
	switch {
	case start == id && o.goesOn != "" && followed && asked != nil:
		r.e.more(id, o)
		return
	case start == id || asked == nil || !followed || at.index > until:
		r.e.result(id, o, r.w)
		return
	}
	if call := r.e.waiting(id); call != nil && getText([]byte(call.Input), "chars") != "" { // it sends input
		r.e.result(id, outcome{}, r.w)
	} else {
		r.e.forget(id)
	}
	if asked.Exit != nil && *asked.Exit != 0 && o.exit != nil && *o.exit == 0 {
		o.exit = nil // another of the call's commands has failed
	}
	if at.index < until {
		r.e.more(start, o)
	} else {
		r.e.result(start, o, r.w)
	}
}

// codexEnd returns the id of the call whose end an event reports, and the report; nil for other events.
func codexEnd(l codexLine) (id string, end []byte) {
	switch l.sub {
	case "patch_apply_end", "mcp_tool_call_end", "exec_command_end", "dynamic_tool_call_response":
		return getText(l.payload, "call_id"), l.payload
	case "item_completed":
		item := get(l.payload, "item")
		switch getText(item, "type") {
		case "CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall":
			return getText(item, "id"), item
		}
	}
	return "", nil
}

// callEnd adds an event's report to a call without a result yet, and emits the call if it is the last record about it.
func (r *codexReader) callEnd(at place, id string, end []byte) {
	exit, failed := endStatus(end)
	call := r.e.waiting(id)
	if call == nil {
		r.cells.inner(end, exit, failed)
		return
	}
	if exit != nil {
		call.Exit = exit
	}
	call.Failed = call.Failed || failed
	if until, ok := r.plan.until[textHash(id)]; ok && until == at.index {
		o := outcome{}
		all := cmp.Or(getText(end, "aggregated_output"), getText(end, "aggregatedOutput"), getText(end, "stdout"))
		if len(all) > len(call.Output) {
			r.e.held -= len(call.Output)
			call.Output, o.output = "", all
		}
		r.e.result(id, o, r.w)
	}
}

// endStatus reads how a call ended; versions differ in the spelling of names.
func endStatus(end []byte) (exit *int, failed bool) {
	exit = cmp.Or(exitStatus(get(end, "exit_code")), exitStatus(get(end, "exitCode")))
	success := get(end, "success")
	failed = success != nil && string(success) == "false" || get(end, "result", "Err") != nil ||
		isObject(get(end, "error"))
	status := getText(end, "status")
	return exit, failed || status == "failed" || status == "declined"
}

// codexCells tracks the running scripts of code mode. Events report the commands of a script without naming
// it. Their exit status is that of the script unless its result has one.
type codexCells struct {
	open []*codexCell
}

type codexCell struct {
	id     string
	exit   *int // of the first command that failed, else 0
	failed bool
}

const maxCells = 16 // scripts that are tracked at a time

func (c *codexCells) begin(id string) {
	if len(c.open) == maxCells {
		c.open = slices.Delete(c.open, 0, 1)
	}
	c.open = append(c.open, &codexCell{id: id})
}

// inner adds the end of a command to the latest script.
func (c *codexCells) inner(end []byte, exit *int, failed bool) {
	by := getText(end, "source") // a person's command has another record
	if len(c.open) == 0 || get(end, "command") == nil || by == "user_shell" || by == "userShell" {
		return
	}
	cell := c.open[len(c.open)-1]
	if exit != nil && (cell.exit == nil || *cell.exit == 0) {
		cell.exit = exit
	}
	cell.failed = cell.failed || failed
}

// end adds the events' reports to a script's result.
func (c *codexCells) end(id string, o *outcome) {
	i := slices.IndexFunc(c.open, func(cell *codexCell) bool { return cell.id == id })
	if i < 0 {
		return
	}
	cell := c.open[i]
	if o.failed = o.failed || cell.failed; o.goesOn != "" {
		return
	}
	if c.open = slices.Delete(c.open, i, i+1); o.exit == nil {
		o.exit = cell.exit
	}
}

// A command may run longer than the call that started it. The call's result then names a handle, and later
// calls (write_stdin, wait) or an event have the rest of its output and its exit status. These belong to the
// item of the first call, which waits for them. The first pass finds the last record about each command, so
// that no item waits in vain.

type codexRunning struct {
	started map[string]string // by handle: the id of the call that started the command
	asks    map[string]string // by the id of a polling call without a result: its handle
}

func newCodexRunning() codexRunning { return codexRunning{map[string]string{}, map[string]string{}} }

// maxHandles bounds the tracked commands; real sessions have far fewer.
const maxHandles = 4096

// call records a call if it polls a running command.
func (c *codexRunning) call(kind, id string, p []byte) {
	if len(c.started) == 0 || len(c.asks) >= maxHandles {
		return
	}
	if handle := codexAsks(kind, p); c.started[handle] != "" {
		c.asks[id] = handle
	}
}

// result records the result of a call. It returns the id of the call that started the command, which differs
// from id if id is a polling call.
func (c *codexRunning) result(id, goesOn string) (start string) {
	start = id
	if handle, ok := c.asks[id]; ok {
		delete(c.asks, id)
		start = c.started[handle]
		delete(c.started, handle)
		if start == "" { // another call has reported its end
			return id
		}
	}
	if goesOn != "" && len(c.started) < maxHandles {
		c.started[goesOn] = start
	}
	return start
}

// has reports whether the command of a call is still running.
func (c *codexRunning) has(start string) bool {
	return slices.Contains(slices.Collect(maps.Values(c.started)), start)
}

// codexAsks returns the handle that a call polls, "" if it is not a polling call.
func codexAsks(kind string, p []byte) string {
	if !bytes.Contains(p, []byte("write_stdin")) && !bytes.Contains(p, []byte("cell_id")) {
		return ""
	}
	switch tool, input, _ := codexCall(kind, p); tool {
	case "write_stdin":
		return handle("session ", string(unquotedNumber(get([]byte(input), "session_id"))))
	case "wait":
		return handle("cell ", string(unquotedNumber(get([]byte(input), "cell_id"))))
	}
	return ""
}

func handle(kind, id string) string {
	if id == "" || len(id) > 64 {
		return ""
	}
	return kind + id
}

// mayGoOn is a quick check whether a raw result can be that of a command that is still running.
func mayGoOn(p []byte) bool {
	return bytes.Contains(p, []byte("running with ")) || bytes.Contains(p, []byte("session_id"))
}
