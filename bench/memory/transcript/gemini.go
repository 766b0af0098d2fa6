package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"memoir/bench/memory/scenario"
)

// geminiNames are Gemini CLI's tools.
var geminiNames = names{run: "run_shell_command", read: "read_file", edit: "replace", write: "write_file", search: "search_file_content",
	path: "file_path", old: "old_string", new: "new_string", content: "content"}

// geminiCancelled is what a call comes to that the person did not allow.
const geminiCancelled = "[Operation Cancelled] Reason: User did not allow tool call"

// writeGemini writes a session of Gemini CLI, the log of its later versions: a head,
// then a message a line; results stand in the calls.
func writeGemini(b *book) File {
	g := geminiBook{b}
	at, id := b.session.At, b.uuid()
	sum := sha256.Sum256([]byte(b.project.Dir))
	hash := hex.EncodeToString(sum[:])
	b.line(at, obj{"sessionId", id, "projectHash", hash, "startTime", stamp(at), "lastUpdated", stamp(at), "kind", "main",
		"directories", []any{b.project.Dir}})
	for _, s := range b.steps() {
		g.step(s)
	}
	b.line(b.last, obj{"$set", obj{"lastUpdated", stamp(b.last)}})
	return b.done(fmt.Sprintf("gemini/tmp/%s/chats/session-%s-%s.jsonl", hash, at.Format("2006-01-02T15-04"), id[:8]), id)
}

type geminiBook struct{ *book }

func (g geminiBook) message(at time.Time, kind string, content any, members ...any) {
	g.line(at, append(obj{"id", g.uuid(), "timestamp", stamp(at), "type", kind, "content", content}, members...))
}

func (g geminiBook) user(at time.Time, text string) {
	g.message(at, "user", []any{obj{"text", text}})
}

func (g geminiBook) step(s step) {
	switch {
	case s.answer():
		g.answer(s)
	case s.Kind == scenario.Person, s.Kind == scenario.Queued:
		g.user(s.At, s.Text)
	case s.Kind == scenario.Injected:
		g.user(s.At, geminiContext(s.Text))
	case s.Kind == scenario.Interrupted:
		g.message(s.At, "info", "Request cancelled.")
	case s.Kind == scenario.Summary:
		g.user(s.At, "<state_snapshot>\n"+s.Text+"\n</state_snapshot>")
	}
}

// geminiContext puts what the client adds into the element that it has for it, unless
// the text brings one.
func geminiContext(text string) string {
	if strings.HasPrefix(text, "<") {
		return text
	}
	return "<session_context>\n" + text + "\n</session_context>"
}

func (g geminiBook) answer(s step) {
	members := []any{"thoughts", []any{}, "tokens", obj{"input", 12059, "output", 117, "cached", 0, "total", 12176}, "model", "gemini-3-pro"}
	if s.call == nil {
		g.message(s.At, "gemini", s.text, members...)
		return
	}
	name, arguments := geminiNames.tool(g.book, *s.call)
	if s.call.Kind == scenario.Edit {
		arguments = append(arguments, "instruction", "Update "+s.call.Text)
	}
	id, status := name+"-"+g.digest(16), "success"
	response := obj{"output", geminiOutput(g.book, *s.call)}
	switch {
	case s.refused:
		status, response = "cancelled", obj{"error", geminiCancelled}
	case s.call.Fails != "":
		status, response = "error", obj{"error", s.call.Fails}
	}
	call := obj{"id", id, "name", name, "args", arguments,
		"result", []any{obj{"functionResponse", obj{"id", id, "name", name, "response", response}}}, "status", status, "timestamp", stamp(taken(s.At))}
	g.message(s.At, "gemini", s.text, append(members, "toolCalls", []any{call})...)
	if s.reason != "" {
		g.user(s.At.Add(scenario.Step/2), s.reason)
	}
}

// geminiOutput is what a call came to; a shell command's is framed.
func geminiOutput(b *book, c scenario.Entry) string {
	if c.Kind != scenario.Run {
		return done(b, c)
	}
	output := "Output: " + c.Output
	if c.Output == "" {
		output = "Output: (empty)"
	}
	if c.Exit != 0 {
		output += fmt.Sprintf("\nExit Code: %d", c.Exit)
	}
	return output + "\nProcess Group PGID: 4711"
}
