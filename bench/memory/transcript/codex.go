package transcript

import (
	"fmt"
	"strings"
	"time"

	"memoir/bench/memory/scenario"
)

// writeCodex writes a rollout of Codex, enveloped lines: each utterance as a response
// item and as an event, commands with exec_command, changes with apply_patch.
func writeCodex(b *book) File {
	at := b.session.At
	c := codexBook{book: b, thread: b.uuid7(at)}
	c.record(at, "session_meta", obj{
		"session_id", c.thread, "id", c.thread, "timestamp", stamp(at), "cwd", b.project.Dir, "originator", "codex_cli_rs",
		"cli_version", "0.142.5", "source", "cli", "thread_source", "user", "model_provider", "openai",
		"base_instructions", obj{"text", "You are a coding agent running in a terminal. Be precise and safe."},
		"history_mode", "legacy", "git", c.git(),
	})
	for i, e := range b.session.Said {
		c.entry(i, e)
	}
	c.complete()
	name := fmt.Sprintf("rollout-%s-%s.jsonl", at.Format("2006-01-02T15-04-05"), c.thread)
	return b.done("codex/sessions/"+at.Format("2006/01/02/")+name, c.thread)
}

type codexBook struct {
	*book
	thread string
	turn   string // "" between turns
	answer string // the agent's last words in the turn
}

func (c *codexBook) git() obj {
	git := obj{"commit_hash", c.digest(40)}
	if c.session.Branch != "" {
		git = append(git, "branch", c.session.Branch)
	}
	if c.project.Remote != "" {
		git = append(git, "repository_url", c.project.Remote)
	}
	return git
}

func (c *codexBook) record(at time.Time, kind string, payload obj) {
	c.line(at, obj{"timestamp", stamp(at), "type", kind, "payload", payload})
}

func (c *codexBook) entry(i int, e scenario.Entry) {
	switch e.Kind {
	case scenario.Person:
		c.complete()
		c.begin(e.At)
		c.user(e.At, e.Text)
	case scenario.Queued:
		if c.turn == "" || i > 0 && c.session.Closing(i-1) { // the agent had ended meanwhile
			c.complete()
			c.begin(e.At)
		}
		c.user(e.At, e.Text)
	case scenario.Agent:
		c.ensure(e.At)
		phase := "commentary"
		if c.session.Closing(i) {
			phase = "final_answer"
		}
		c.answer = e.Text
		c.record(e.At, "event_msg", obj{"type", "agent_message", "message", e.Text, "phase", phase, "memory_citation", nil})
		c.record(e.At, "response_item", obj{"type", "message", "role", "assistant",
			"content", []any{obj{"type", "output_text", "text", e.Text}}, "id", "msg_" + c.digest(16), "phase", phase})
	case scenario.Injected:
		c.message(e.At, "user", c.envelope(e.Text))
	case scenario.Summary:
		c.record(e.At, "compacted", obj{"message", e.Text})
		c.record(e.At, "event_msg", obj{"type", "context_compacted"})
	case scenario.Interrupted:
		c.abort(e.At)
	case scenario.Refused:
		c.ensure(e.At)
		c.call(e.At, *e.Call, codexRefusal(*e.Call))
		if e.Text != "" || i+1 == len(c.session.Said) || c.session.Said[i+1].Kind == scenario.Person {
			c.abort(taken(e.At))
		} // else the agent goes on in the same turn
		if e.Text != "" {
			at := e.At.Add(scenario.Step / 2)
			c.begin(at)
			c.user(at, e.Text)
		}
	default:
		c.ensure(e.At)
		c.call(e.At, e, c.result(e))
	}
}

// envelope puts what Codex adds into the element that it has for it, unless the text
// brings one.
func (c *codexBook) envelope(text string) string {
	if strings.HasPrefix(text, "<") || strings.HasPrefix(text, "# AGENTS.md instructions") {
		return text
	}
	if c.turn == "" {
		return "# AGENTS.md instructions for " + c.project.Dir + "\n\n<INSTRUCTIONS>\n" + text + "\n</INSTRUCTIONS>"
	}
	return "<hook_prompt>" + text + "</hook_prompt>"
}

func (c *codexBook) message(at time.Time, role, text string) {
	c.record(at, "response_item", obj{"type", "message", "role", role, "content",
		[]any{obj{"type", "input_text", "text", text}}})
}

func (c *codexBook) begin(at time.Time) {
	c.turn, c.answer = c.uuid7(at), ""
	c.record(at, "event_msg", obj{"type", "task_started", "turn_id", c.turn, "started_at", at.Unix(),
		"model_context_window", 258400})
	c.record(at, "turn_context", obj{"turn_id", c.turn, "cwd", c.project.Dir, "approval_policy", "on-request",
		"sandbox_policy", obj{"type", "workspace-write"}, "model", "gpt-5.5"})
}

// ensure begins a turn if none runs: what the agent does, it does in one.
func (c *codexBook) ensure(at time.Time) {
	if c.turn == "" {
		c.begin(at)
	}
}

func (c *codexBook) complete() {
	if c.turn == "" {
		return
	}
	c.record(c.last, "event_msg", obj{"type", "task_complete", "turn_id", c.turn, "last_agent_message", c.answer,
		"duration_ms", 60000})
	c.turn = ""
}

func (c *codexBook) abort(at time.Time) {
	if c.turn == "" {
		return
	}
	c.message(at, "user", "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>")
	c.record(at, "event_msg", obj{"type", "turn_aborted", "turn_id", c.turn, "reason", "interrupted"})
	c.turn = ""
}

func (c *codexBook) user(at time.Time, text string) {
	c.message(at, "user", text)
	c.record(at, "event_msg", obj{"type", "user_message", "client_id", c.uuid(), "message", text,
		"images", []any{}, "local_images", []any{}, "text_elements", []any{}})
}

// call writes a call and what it came to.
func (c *codexBook) call(at time.Time, e scenario.Entry, output string) {
	id := "call_" + c.digest(24)
	if patch, changes := c.patch(e); patch != "" {
		c.record(at, "response_item", obj{"type", "custom_tool_call", "id", "ctc_" + c.digest(16), "status", "completed",
			"call_id", id,
			"name", "apply_patch", "input", patch})
		if strings.HasPrefix(output, "Exit code: 0") {
			_, stdout, _ := strings.Cut(output, "Output:\n")
			c.record(taken(at), "event_msg", obj{"type", "patch_apply_end", "call_id", id, "turn_id", c.turn, "stdout", stdout,
				"stderr", "",
				"success", true, "changes", changes})
		}
		c.record(taken(at), "response_item", obj{"type", "custom_tool_call_output", "call_id", id, "output", output})
		return
	}
	name, arguments := e.Text, sorted(e.Input)
	if command := codexCommand(e); command != "" {
		name, arguments = "exec_command", obj{"cmd", command, "workdir", c.dir(e), "yield_time_ms", 10000,
			"max_output_tokens", 12000}
	}
	c.record(at, "response_item", obj{"type", "function_call", "id", "fc_" + c.digest(16), "name", name,
		"arguments", string(encode(arguments)), "call_id", id})
	c.record(taken(at), "response_item", obj{"type", "function_call_output", "call_id", id, "output", output})
}

// codexCommand is the command line of what Codex does in a shell: files are read and
// searched there, too.
func codexCommand(e scenario.Entry) string {
	switch e.Kind {
	case scenario.Run:
		return e.Text
	case scenario.Read:
		return "sed -n '1,240p' " + quoted(e.Text)
	case scenario.Search:
		return "rg -n " + quoted(e.Text)
	}
	return ""
}

// quoted is a word of a command line.
func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// patch is the input of apply_patch, "" for a call that changes no file.
func (c *codexBook) patch(e scenario.Entry) (patch string, changes obj) {
	file := c.file(e.Text)
	switch e.Kind {
	case scenario.Edit:
		return "*** Begin Patch\n*** Update File: " + file + "\n@@\n" +
				prefixed("-", e.Old) + prefixed("+", e.New) + "*** End Patch\n",
			obj{file, obj{"type", "update"}}
	case scenario.Write:
		return "*** Begin Patch\n*** Add File: " + file + "\n" + prefixed("+", e.Content) + "*** End Patch\n",
			obj{file, obj{"type", "add"}}
	}
	return "", nil
}

func prefixed(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// result is what a call that was allowed came to.
func (c *codexBook) result(e scenario.Entry) string {
	switch {
	case (e.Kind == scenario.Edit || e.Kind == scenario.Write) && e.Fails != "":
		return "apply_patch verification failed: " + e.Fails
	case e.Kind == scenario.Edit:
		return "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM " +
			c.file(e.Text) + "\n"
	case e.Kind == scenario.Write:
		return "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA " +
			c.file(e.Text) + "\n"
	case codexCommand(e) != "":
		output := e.Output
		if e.Fails != "" {
			output = e.Fails
		}
		return fmt.Sprintf("Chunk ID: %s\nWall time: 1.2000 seconds\nProcess exited with code %d\n"+
			"Original token count: %d\nOutput:\n%s\n",
			c.digest(6), codexExit(e), (len(output)+3)/4, output)
	case e.Fails != "":
		return "tool call error: " + e.Fails
	}
	return "Wall time: 0.8000 seconds\nOutput:\n" + e.Output
}

// codexExit is the exit status of what ran in a shell: rg exits with 1 when it finds
// nothing.
func codexExit(e scenario.Entry) int {
	switch {
	case e.Kind == scenario.Run:
		return e.Exit
	case e.Fails != "":
		return 2
	case e.Kind == scenario.Search && strings.TrimSpace(e.Output) == "":
		return 1
	}
	return 0
}

// codexRefusal is what a call comes to that the person did not allow.
func codexRefusal(e scenario.Entry) string {
	switch {
	case e.Kind == scenario.Edit || e.Kind == scenario.Write:
		return "patch rejected by user"
	case codexCommand(e) != "":
		return "exec command rejected by user"
	}
	return "tool call error: user rejected MCP tool call"
}
