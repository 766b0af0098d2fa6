package transcript

import (
	"fmt"
	"strings"
	"time"

	"memoir/bench/memory/scenario"
)

// qwenNames are Qwen Code's tools.
var qwenNames = names{run: "run_shell_command", read: "read_file", edit: "edit", write: "write_file", search: "grep_search",
	path: "file_path", old: "old_string", new: "new_string", content: "content"}

// writeQwen writes a session of Qwen Code: records that name their parents, in the
// parts of Gemini's messages.
func writeQwen(b *book) File {
	q := qwenBook{book: b, id: b.uuid()}
	for _, s := range b.steps() {
		q.step(s)
	}
	return b.done("qwen/projects/"+notPath.ReplaceAllString(b.project.Dir, "-")+"/chats/"+q.id+".jsonl", q.id)
}

type qwenBook struct {
	*book
	id     string
	parent string
}

func (q *qwenBook) record(at time.Time, kind, by string, members ...any) {
	var parent any
	if q.parent != "" {
		parent = q.parent
	}
	uuid := q.uuid()
	record := obj{"uuid", uuid, "parentUuid", parent, "sessionId", q.id, "timestamp", stamp(at), "type", kind, "provenance", by,
		"cwd", q.project.Dir, "version", "0.24.4", "gitBranch", q.session.Branch}
	q.line(at, append(record, members...))
	q.parent = uuid
}

func (q *qwenBook) user(at time.Time, by, text string, members ...any) {
	q.record(at, "user", by, append(members, "message", obj{"role", "user", "parts", []any{obj{"text", text}}})...)
}

func (q *qwenBook) step(s step) {
	switch {
	case s.answer():
		q.answer(s)
	case s.Kind == scenario.Person:
		q.user(s.At, "real_user", s.Text)
	case s.Kind == scenario.Queued:
		q.user(s.At, "real_user", s.Text, "subtype", "mid_turn_user_message")
	case s.Kind == scenario.Injected:
		text := s.Text
		if !strings.HasPrefix(text, "<") {
			text = "<system-reminder>\n" + text + "\n</system-reminder>"
		}
		q.user(s.At, "system", text, "subtype", "notification")
	case s.Kind == scenario.Summary:
		q.record(s.At, "system", "system", "subtype", "chat_compression", "systemPayload", obj{"compressedHistory", []any{
			obj{"role", "user", "parts", []any{obj{"text", s.Text}}},
			obj{"role", "model", "parts", []any{obj{"text", "Got it. Thanks for the additional context!"}}},
		}})
	}
}

func (q *qwenBook) answer(s step) {
	var parts []any
	if s.text != "" {
		parts = append(parts, obj{"text", s.text})
	}
	var name, id string
	if s.call != nil {
		var arguments obj
		name, arguments = qwenNames.tool(q.book, *s.call)
		id = "call_" + q.digest(24)
		parts = append(parts, obj{"functionCall", obj{"id", id, "name", name, "args", arguments}})
	}
	q.record(s.At, "assistant", "assistant_output", "model", "qwen3-coder-plus", "message", obj{"role", "model", "parts", parts},
		"usageMetadata", obj{"promptTokenCount", 9000, "candidatesTokenCount", 120, "totalTokenCount", 9120})
	if s.call == nil {
		return
	}
	key, output, status := "output", done(q.book, *s.call), "success"
	result := obj{"callId", id, "status", status}
	switch {
	case s.refused:
		key, output, status = "error", geminiCancelled, "cancelled"
		result = obj{"callId", id, "status", status}
	case s.call.Fails != "":
		key, output, status = "error", s.call.Fails, "error"
		result = obj{"callId", id, "status", status}
	case s.call.Kind == scenario.Run:
		if s.call.Exit != 0 {
			key, status = "error", "error"
		}
		output = qwenShell(*s.call)
		result = obj{"callId", id, "status", status,
			"resultDisplay", obj{"type", "shell_result", "version", 1, "exitCode", s.call.Exit, "output", s.call.Output}}
	}
	at := taken(s.At)
	q.record(at, "system", "system", "subtype", "ui_telemetry", "systemPayload", obj{"uiEvent",
		obj{"event.name", "qwen-code.tool_call", "call_id", id, "function_name", name, "status", status}})
	q.record(at, "tool_result", "tool_result", "message", obj{"role", "user", "parts", []any{
		obj{"functionResponse", obj{"id", id, "name", name, "response", obj{key, output}}}}}, "toolCallResult", result)
	if s.reason != "" {
		q.user(s.At.Add(scenario.Step/2), "real_user", s.reason)
	}
}

// qwenShell is the frame of a command's output.
func qwenShell(c scenario.Entry) string {
	output := c.Output
	if output == "" {
		output = "(empty)"
	}
	return fmt.Sprintf("Command: %s\nDirectory: (root)\nOutput: %s\nError: (none)\nExit Code: %d\nSignal: (none)\nProcess Group PGID: (none)",
		commandLine(c), output, c.Exit)
}
