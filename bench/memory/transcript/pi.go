package transcript

import (
	"fmt"
	"strings"
	"time"

	"memoir"
	"memoir/bench/memory/scenario"
)

// piNames are the tools of pi and oh-my-pi.
var piNames = names{run: "bash", read: "read", edit: "edit", write: "write", search: "grep",
	path: "path", old: "oldText", new: "newText", content: "content"}

// writePi writes a session of pi, version 3, or of oh-my-pi, which differs in a title
// before the header and in some entries: messages in a tree without branches.
func writePi(b *book) File {
	p := piBook{book: b, omp: memoir.Source(b.session.Agent) == memoir.SourceOMP}
	at, id := b.session.At, b.uuid7(b.session.At)
	header := obj{"type", "session", "version", 3, "id", id, "timestamp", stamp(at), "cwd", b.project.Dir}
	if p.omp {
		title := strings.ReplaceAll(b.session.Name, "-", " ")
		slot := string(encode(obj{"type", "title", "title", title, "source", "auto"}))
		fmt.Fprintf(&b.out, "%-255s}\n", strings.TrimSuffix(slot, "}"))
		b.line(at, append(header, "title", title, "titleSource", "auto"))
		p.entry(at, "model_change", "model", "anthropic/claude-sonnet-4-5", "role", "default")
		p.entry(at, "mode_change", "mode", "agent")
	} else {
		b.line(at, header)
		p.entry(at, "model_change", "provider", "anthropic", "modelId", "claude-sonnet-4-5")
		p.entry(at, "thinking_level_change", "thinkingLevel", "low")
	}
	for _, s := range b.steps() {
		p.step(s)
	}
	bucket := "--" + strings.ReplaceAll(strings.Trim(b.project.Dir, "/"), "/", "-") + "--"
	return b.done(fmt.Sprintf("%s/agent/sessions/%s/%s_%s.jsonl", b.session.Agent, bucket, at.Format("2006-01-02T15-04-05-000Z"), id), id)
}

type piBook struct {
	*book
	omp    bool
	parent string
}

func (p *piBook) entry(at time.Time, kind string, members ...any) {
	var parent any
	if p.parent != "" {
		parent = p.parent
	}
	id := p.digest(8)
	p.line(at, append(obj{"type", kind, "id", id, "parentId", parent, "timestamp", stamp(at)}, members...))
	p.parent = id
}

func (p *piBook) message(at time.Time, message obj) {
	p.entry(at, "message", "message", append(message, "timestamp", at.UnixMilli()))
}

func (p *piBook) user(at time.Time, text string, members ...any) {
	p.message(at, append(obj{"role", "user", "content", []any{obj{"type", "text", "text", text}}}, members...))
}

func (p *piBook) assistant(at time.Time, stop string, content ...any) {
	p.message(at, obj{"role", "assistant", "content", content, "api", "anthropic-messages", "provider", "anthropic", "model", "claude-sonnet-4-5",
		"usage", obj{"input", 12, "output", 221, "cacheRead", 8000, "cacheWrite", 300, "cost", obj{"total", 0.0042}}, "stopReason", stop})
}

func (p *piBook) step(s step) {
	switch {
	case s.answer():
		p.answer(s)
	case s.Kind == scenario.Person:
		p.user(s.At, s.Text)
	case s.Kind == scenario.Queued:
		p.user(s.At, s.Text, "steering", true)
	case s.Kind == scenario.Injected:
		members := []any{"customType", "context", "content", s.Text, "display", false}
		if p.omp {
			members = append(members, "attribution", "agent")
		}
		p.entry(s.At, "custom_message", members...)
	case s.Kind == scenario.Interrupted:
		p.assistant(s.At, "aborted")
	case s.Kind == scenario.Summary:
		p.entry(s.At, "compaction", "summary", s.Text, "firstKeptEntryId", p.parent, "tokensBefore", 155000)
	}
}

func (p *piBook) answer(s step) {
	var content []any
	if s.text != "" {
		content = append(content, obj{"type", "text", "text", s.text})
	}
	if s.call == nil {
		stop := "stop"
		if !s.final {
			stop = "toolUse"
		}
		p.assistant(s.At, stop, content...)
		return
	}
	name, arguments := piNames.tool(p.book, *s.call)
	id := "toolu_" + p.digest(20)
	p.assistant(s.At, "toolUse", append(content, obj{"type", "toolCall", "id", id, "name", name, "arguments", arguments})...)
	output, failed := done(p.book, *s.call), false
	switch {
	case s.refused:
		output, failed = "Tool execution was blocked: the user did not allow it", true
	case s.call.Fails != "":
		output, failed = s.call.Fails, true
	case s.call.Exit != 0:
		output, failed = fmt.Sprintf("%s\n\nCommand exited with code %d", s.call.Output, s.call.Exit), true
	}
	p.message(taken(s.At), obj{"role", "toolResult", "toolCallId", id, "toolName", name,
		"content", []any{obj{"type", "text", "text", output}}, "isError", failed})
	if s.reason != "" {
		p.user(s.At.Add(scenario.Step/2), s.reason)
	}
}
