package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"memoir/bench/memory/scenario"
)

// opencodeNames are OpenCode's tools.
var opencodeNames = names{run: "bash", read: "read", edit: "edit", write: "write", search: "grep",
	path: "filePath", old: "oldString", new: "newString", content: "content"}

// opencodeRefused begins what a call comes to that the person did not allow.
const opencodeRefused = "The user rejected permission to use this specific tool call"

// writeOpenCode writes the document that `opencode export` prints: the session, then
// its messages with their parts.
func writeOpenCode(b *book) File {
	at := b.session.At
	o := opencodeBook{book: b}
	// Ids of sessions count down, those of messages up.
	o.session = "ses_" + fmt.Sprintf("%012x", (1<<48-1)&^opencodeClock(at)) + b.digest(14)
	for _, s := range b.steps() {
		o.step(s)
	}
	title := strings.ReplaceAll(b.session.Name, "-", " ")
	document := encode(obj{"info", obj{
		"id", o.session, "slug", b.session.Name, "projectID", b.digest(40), "directory", b.project.Dir, "path", "", "title", title,
		"version", "1.18.33", "time", obj{"created", at.UnixMilli(), "updated", b.last.UnixMilli()},
	}, "messages", o.messages})
	var printed bytes.Buffer
	if err := json.Indent(&printed, document, "", "  "); err != nil {
		panic(err) // encode writes JSON
	}
	printed.WriteByte('\n')
	return File{Path: "opencode/" + o.session + ".json", ID: o.session, Data: printed.Bytes(), At: b.last}
}

// opencodeClock is a time as ids have it: 48 bits of milliseconds times 4096.
func opencodeClock(at time.Time) int64 { return at.UnixMilli() << 12 & (1<<48 - 1) }

type opencodeBook struct {
	*book
	session  string
	messages []any
	prompt   string // id of the message that is answered
	count    int64  // of ids
}

// ascending is an id that sorts by time.
func (o *opencodeBook) ascending(kind string, at time.Time) string {
	o.count = (o.count + 1) % 4096
	return kind + "_" + fmt.Sprintf("%012x", opencodeClock(at)+o.count) + o.digest(14)
}

// message adds one with the parts that it is given without their ids.
func (o *opencodeBook) message(at time.Time, info obj, parts ...obj) string {
	if at.After(o.last) {
		o.last = at
	}
	id := o.ascending("msg", at)
	var whole []any
	for _, part := range parts {
		whole = append(whole, append(part, "id", o.ascending("prt", at), "sessionID", o.session, "messageID", id))
	}
	o.messages = append(o.messages, obj{"info", append(info, "id", id, "sessionID", o.session), "parts", whole})
	return id
}

func (o *opencodeBook) user(at time.Time, parts ...obj) {
	o.prompt = o.message(at, obj{"role", "user", "time", obj{"created", at.UnixMilli()}, "agent", "build",
		"model", obj{"providerID", "anthropic", "modelID", "claude-sonnet-4-5"}}, parts...)
}

func (o *opencodeBook) assistant(at time.Time, finish string, members []any, parts ...obj) {
	info := obj{"parentID", o.prompt, "role", "assistant", "mode", "build", "agent", "build",
		"path", obj{"cwd", o.project.Dir, "root", o.project.Dir}, "cost", 0,
		"tokens", obj{"input", 1200, "output", 90, "reasoning", 0, "cache", obj{"read", 0, "write", 0}},
		"modelID", "claude-sonnet-4-5", "providerID", "anthropic", "time", obj{"created", at.UnixMilli(), "completed", taken(at).UnixMilli()}}
	if finish != "" {
		info = append(info, "finish", finish)
	}
	o.message(at, append(info, members...), parts...)
}

func (o *opencodeBook) step(s step) {
	switch {
	case s.answer():
		o.answer(s)
	case s.Kind == scenario.Person, s.Kind == scenario.Queued:
		o.user(s.At, obj{"type", "text", "text", s.Text})
	case s.Kind == scenario.Injected:
		o.user(s.At, obj{"type", "text", "text", s.Text, "synthetic", true})
	case s.Kind == scenario.Interrupted:
		o.assistant(s.At, "", []any{"error", obj{"name", "MessageAbortedError", "data", obj{"message", "The operation was aborted."}}})
	case s.Kind == scenario.Summary:
		o.user(s.At, obj{"type", "compaction", "auto", true})
		o.assistant(taken(s.At), "stop", []any{"summary", true}, obj{"type", "text", "text", s.Text})
	}
}

func (o *opencodeBook) answer(s step) {
	parts := []obj{{"type", "step-start"}}
	if s.text != "" {
		parts = append(parts, obj{"type", "text", "text", s.text, "time", obj{"start", s.At.UnixMilli(), "end", s.At.UnixMilli()}})
	}
	if s.call == nil {
		finish := "stop"
		if !s.final {
			finish = "tool-calls"
		}
		o.assistant(s.At, finish, nil, append(parts, obj{"type", "step-finish", "reason", finish, "cost", 0})...)
		return
	}
	name, arguments := opencodeNames.tool(o.book, *s.call)
	if s.call.Kind == scenario.Run {
		arguments = append(arguments, "description", "Run "+firstWord(s.call.Text))
	}
	times := obj{"start", s.At.UnixMilli(), "end", taken(s.At).UnixMilli()}
	state := obj{"status", "completed", "input", arguments, "title", "", "metadata", obj{}, "time", times, "output", done(o.book, *s.call)}
	switch {
	case s.refused:
		state = obj{"status", "error", "input", arguments, "error", opencodeRefusal(s.reason), "time", times}
	case s.call.Fails != "":
		state = obj{"status", "error", "input", arguments, "error", s.call.Fails, "time", times}
	case s.call.Kind == scenario.Run:
		state = obj{"status", "completed", "input", arguments, "title", "",
			"metadata", obj{"output", s.call.Output, "exit", s.call.Exit, "truncated", false}, "time", times, "output", s.call.Output}
	}
	o.assistant(s.At, "tool-calls", nil, append(parts, obj{"type", "tool", "tool", name, "callID", "toolu_" + o.digest(20), "state", state},
		obj{"type", "step-finish", "reason", "tool-calls", "cost", 0})...)
}

func opencodeRefusal(reason string) string {
	if reason == "" {
		return opencodeRefused + "."
	}
	return opencodeRefused + " with the following feedback: " + reason
}
