package transcript

import (
	"fmt"
	"strings"
	"time"

	"memoir/bench/memory/scenario"
)

// copilotNames are Copilot CLI's tools.
var copilotNames = names{run: "bash", read: "view", edit: "edit", write: "create", search: "grep",
	path: "path", old: "old_str", new: "new_str", content: "file_text"}

// writeCopilot writes the events of a session of Copilot CLI.
func writeCopilot(b *book) File {
	c := copilotBook{book: b}
	at, id := b.session.At, b.uuid()
	c.event(at, "session.start", obj{"sessionId", id, "version", 1, "producer", "copilot-agent", "copilotVersion", "1.0.102",
		"startTime", stamp(at), "selectedModel", "gpt-5", "context", obj{"cwd", b.project.Dir, "gitRoot", b.project.Dir, "branch", b.session.Branch}})
	c.event(at, "system.message", obj{"role", "system", "content", "You are the GitHub Copilot CLI, a terminal assistant."})
	for _, s := range b.steps() {
		c.step(s)
	}
	c.event(b.last, "session.shutdown", obj{"shutdownType", "routine", "totalApiDurationMs", 9000, "sessionStartTime", at.UnixMilli(), "modelMetrics", obj{}})
	return b.done("copilot/session-state/"+id+"/events.jsonl", id)
}

type copilotBook struct {
	*book
	parent string
	turn   int
	calls  int
}

func (c *copilotBook) event(at time.Time, kind string, data obj) {
	var parent any
	if c.parent != "" {
		parent = c.parent
	}
	id := c.uuid()
	c.line(at, obj{"type", kind, "data", data, "id", id, "timestamp", stamp(at), "parentId", parent})
	c.parent = id
}

func (c *copilotBook) user(at time.Time, text, delivery string) {
	c.event(at, "user.message", obj{"content", text, "transformedContent", "<current_datetime>" + stamp(at) + "</current_datetime>\n\n" + text,
		"delivery", delivery, "interactionId", c.uuid()})
}

func (c *copilotBook) step(s step) {
	switch {
	case s.answer():
		c.answer(s)
	case s.Kind == scenario.Person:
		c.user(s.At, s.Text, "idle")
	case s.Kind == scenario.Queued:
		c.user(s.At, s.Text, "steering")
	case s.Kind == scenario.Injected:
		text := s.Text
		if !strings.HasPrefix(text, "<") {
			text = "<system_reminder>\n" + text + "\n</system_reminder>"
		}
		c.event(s.At, "user.message", obj{"content", text, "source", "system", "delivery", "idle"})
	case s.Kind == scenario.Interrupted:
		c.event(s.At, "abort", obj{"reason", "user initiated"})
	case s.Kind == scenario.Summary:
		c.event(s.At, "session.compaction_complete", obj{"success", true, "preCompactionTokens", 155000, "summaryContent", s.Text})
	}
}

func (c *copilotBook) answer(s step) {
	c.turn++
	turn := fmt.Sprint(c.turn)
	c.event(s.At, "assistant.turn_start", obj{"turnId", turn})
	requests := []any{}
	var name, id string
	var arguments obj
	if s.call != nil {
		c.calls++
		id = fmt.Sprintf("call_%d", c.calls)
		name, arguments = copilotNames.tool(c.book, *s.call)
		if s.call.Kind == scenario.Run {
			arguments = append(arguments, "description", "Run "+firstWord(s.call.Text))
		}
		requests = append(requests, obj{"toolCallId", id, "name", name, "arguments", arguments, "type", "function"})
	}
	c.event(s.At, "assistant.message", obj{"messageId", c.uuid(), "model", "gpt-5", "content", s.text, "toolRequests", requests})
	if s.call != nil {
		c.call(s, id, name, arguments)
	}
	c.event(c.last, "assistant.turn_end", obj{"turnId", turn})
}

// call writes what a call came to.
func (c *copilotBook) call(s step, id, name string, arguments obj) {
	at := taken(s.At)
	if s.refused {
		request := "r" + strings.TrimPrefix(id, "call_")
		result := obj{"kind", "denied-interactively-by-user"}
		message := "The user rejected this tool call."
		if s.reason != "" {
			result = append(result, "feedback", s.reason)
			message += " User feedback: " + s.reason
		}
		c.event(s.At, "permission.requested", obj{"requestId", request, "permissionRequest", obj{"kind", "shell", "toolCallId", id, "fullCommandText", commandLine(*s.call)}})
		c.event(at, "permission.completed", obj{"requestId", request, "toolCallId", id, "result", result})
		c.event(at, "tool.execution_complete", obj{"toolCallId", id, "success", false, "error", obj{"message", message, "code", "rejected"}})
		return
	}
	c.event(s.At, "tool.execution_start", obj{"toolCallId", id, "toolName", name, "arguments", arguments})
	data := obj{"toolCallId", id, "success", true, "result", obj{"content", done(c.book, *s.call)}}
	switch {
	case s.call.Fails != "":
		data = obj{"toolCallId", id, "success", false, "error", obj{"message", s.call.Fails, "code", "failure"}}
	case s.call.Kind == scenario.Run:
		data = obj{"toolCallId", id, "success", true,
			"result", obj{"content", fmt.Sprintf("%s\n<shellId: %d completed with exit code %d>", s.call.Output, c.calls, s.call.Exit)},
			"shellExecution", obj{"exitCode", s.call.Exit}}
	}
	c.event(at, "tool.execution_complete", data)
}
