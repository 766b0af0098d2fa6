package transcript

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"memoir/bench/memory/scenario"
)

// claudeRefused and its ends are what Claude Code tells the model of a call that the
// person rejected.
const (
	claudeRefused = "The user doesn't want to proceed with this tool use. The tool use was rejected " +
		"(eg. if it was a file edit, the new_string was NOT written to the file). "
	claudeStop = "STOP what you are doing and wait for the user to tell you how to proceed."
	claudeSaid = "To tell you how to proceed, the user said:\n"
)

// writeClaude writes a session of Claude Code: entries that name their parents, a
// content block each.
func writeClaude(b *book) File {
	c := claudeBook{book: b, id: b.uuid()}
	for _, e := range b.session.Said {
		c.entry(e)
	}
	return b.done("claude/projects/"+notPath.ReplaceAllString(b.project.Dir, "-")+"/"+c.id+".jsonl", c.id)
}

// notPath is what a directory's name loses where it names a folder of sessions.
var notPath = regexp.MustCompile(`[^a-zA-Z0-9]`)

type claudeBook struct {
	*book
	id      string
	parent  string // uuid of the entry before
	message string // id of the agent's message, "" if the next begins one
}

// record writes an entry, with what comes between its type and its ids.
func (c *claudeBook) record(at time.Time, kind string, members ...any) string {
	var parent any
	if c.parent != "" {
		parent = c.parent
	}
	uuid := c.uuid()
	record := obj{"parentUuid", parent, "isSidechain", false, "userType", "external", "cwd", c.project.Dir, "sessionId",
		c.id,
		"version", "2.1.38", "gitBranch", c.session.Branch, "type", kind}
	record = append(append(record, members...), "uuid", uuid, "timestamp", stamp(at))
	c.line(at, record)
	c.parent = uuid
	return uuid
}

func (c *claudeBook) user(at time.Time, content any, members ...any) string {
	c.message = ""
	return c.record(at, "user", append([]any{"message", obj{"role", "user", "content", content}}, members...)...)
}

func (c *claudeBook) assistant(at time.Time, block obj) string {
	if c.message == "" {
		c.message = "msg_" + c.digest(24)
	}
	return c.record(at, "assistant", "message", obj{"model", "claude-opus-4-5", "id", c.message, "type", "message",
		"role", "assistant",
		"content", []any{block}, "stop_reason", nil, "stop_sequence", nil,
		"usage", obj{"input_tokens", 8, "cache_read_input_tokens", 21000, "output_tokens",
			120}}, "requestId", "req_"+c.digest(20))
}

func (c *claudeBook) entry(e scenario.Entry) {
	switch e.Kind {
	case scenario.Person:
		c.user(e.At, e.Text)
	case scenario.Agent:
		c.assistant(e.At, obj{"type", "text", "text", e.Text})
	case scenario.Queued:
		c.line(e.At, obj{"type", "queue-operation", "operation", "enqueue", "timestamp", stamp(e.At), "sessionId", c.id,
			"content", e.Text})
		at := taken(e.At)
		c.line(at, obj{"type", "queue-operation", "operation", "remove", "timestamp", stamp(at), "sessionId", c.id})
		c.message = ""
		c.record(at, "attachment", "attachment", obj{"type", "queued_command", "prompt", e.Text, "commandMode", "prompt"})
	case scenario.Injected:
		text := e.Text
		if !strings.HasPrefix(text, "<") {
			text = "<system-reminder>\n" + text + "\n</system-reminder>"
		}
		c.user(e.At, text, "isMeta", true)
	case scenario.Interrupted:
		c.user(e.At, []any{obj{"type", "text", "text", "[Request interrupted by user]"}})
	case scenario.Summary:
		before := c.parent
		c.parent = ""
		c.record(e.At, "system", "logicalParentUuid", before, "subtype", "compact_boundary", "content",
			"Conversation compacted",
			"isMeta", false, "level", "info", "compactMetadata", obj{"trigger", "auto", "preTokens", 155000})
		c.user(e.At,
			"This session is being continued from a previous conversation that ran out of context. "+
				"The conversation is summarized below:\n"+e.Text,
			"isVisibleInTranscriptOnly", true, "isCompactSummary", true)
	case scenario.Refused:
		said := claudeRefused + claudeStop
		if e.Text != "" {
			said = claudeRefused + claudeSaid + e.Text
		}
		c.call(e.At, *e.Call, said, true, "Error: "+claudeRefused)
		if e.Text == "" {
			c.user(taken(e.At), []any{obj{"type", "text", "text", "[Request interrupted by user for tool use]"}})
		}
	default:
		output, failed, structured := c.result(e)
		c.call(e.At, e, output, failed, structured)
	}
}

// call writes a call and its result; structured is what Claude Code keeps of it for
// itself.
func (c *claudeBook) call(at time.Time, e scenario.Entry, output string, failed bool, structured any) {
	name, input := c.tool(e)
	id := "toolu_" + c.digest(24)
	source := c.assistant(at, obj{"type", "tool_use", "id", id, "name", name, "input", input})
	c.user(taken(at), []any{obj{"tool_use_id", id, "type", "tool_result", "content", output, "is_error", failed}},
		"toolUseResult", structured, "sourceToolAssistantUUID", source)
}

// tool is a call's name and input.
func (c *claudeBook) tool(e scenario.Entry) (name string, input obj) {
	switch e.Kind {
	case scenario.Run:
		return "Bash", obj{"command", commandLine(e), "description", "Run " + firstWord(e.Text)}
	case scenario.Read:
		return "Read", obj{"file_path", c.file(e.Text)}
	case scenario.Edit:
		return "Edit", obj{"file_path", c.file(e.Text), "old_string", e.Old, "new_string", e.New}
	case scenario.Write:
		return "Write", obj{"file_path", c.file(e.Text), "content", e.Content}
	case scenario.Search:
		return "Grep", obj{"pattern", e.Text, "output_mode", "content", "-n", true}
	}
	return e.Text, sorted(e.Input)
}

// result is what a call that was allowed came to.
func (c *claudeBook) result(e scenario.Entry) (output string, failed bool, structured any) {
	switch {
	case e.Fails != "":
		return "<tool_use_error>" + e.Fails + "</tool_use_error>", true, "Error: " + e.Fails
	case e.Kind == scenario.Run && e.Exit != 0:
		output := fmt.Sprintf("Exit code %d\n%s", e.Exit, e.Output)
		return output, true, "Error: " + output
	case e.Kind == scenario.Run:
		return e.Output, false, obj{"stdout", e.Output, "stderr", "", "interrupted", false, "isImage", false}
	case e.Kind == scenario.Read:
		return numbered(e.Output), false, obj{"type", "text", "file", obj{"filePath", c.file(e.Text), "content", e.Output}}
	case e.Kind == scenario.Edit:
		return "The file " + c.file(e.Text) + " has been updated.", false,
			obj{"filePath", c.file(e.Text), "oldString", e.Old, "newString", e.New}
	case e.Kind == scenario.Write:
		return "File created successfully at: " + c.file(e.Text), false,
			obj{"type", "create", "filePath", c.file(e.Text)}
	}
	return e.Output, false, obj{"content", e.Output}
}

// numbered is a file as the Read tool shows it.
func numbered(content string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d→%s", n, line)
	}
	return b.String()
}

func firstWord(command string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word
}
