package transcript

import (
	"fmt"
	"maps"
	"time"

	"memoir/bench/memory/scenario"
)

// claude writes a session of Claude Code: entries that name their parents, a content
// block each.
func (f *File) claude() {
	c := claudeBook{File: f}
	for _, e := range f.session.Said {
		c.entry(e)
	}
}

type claudeBook struct {
	*File
	parent any // uuid of the entry before
}

func (c *claudeBook) record(at time.Time, kind string, members obj) {
	uuid := c.id()
	record := obj{"parentUuid": c.parent, "cwd": c.project.Dir, "sessionId": c.ID, "gitBranch": c.session.Branch,
		"type": kind, "uuid": uuid}
	maps.Copy(record, members)
	c.line(at, record)
	c.parent = uuid
}

func (c *claudeBook) user(at time.Time, content any, members obj) {
	record := obj{"message": obj{"role": "user", "content": content}}
	maps.Copy(record, members)
	c.record(at, "user", record)
}

func (c *claudeBook) assistant(at time.Time, block obj) {
	c.record(at, "assistant", obj{"message": obj{"id": c.id(), "role": "assistant", "content": []obj{block}}})
}

func (c *claudeBook) entry(e scenario.Entry) {
	switch e.Kind {
	case scenario.Person:
		c.user(e.At, e.Text, nil)
	case scenario.Agent:
		c.assistant(e.At, obj{"type": "text", "text": e.Text})
	case scenario.Queued:
		c.record(e.At, "attachment", obj{"attachment": obj{"type": "queued_command", "prompt": e.Text}})
	case scenario.Injected:
		c.user(e.At, e.Text, obj{"isMeta": true})
	case scenario.Interrupted:
		c.user(e.At, "[Request interrupted by user]", nil)
	case scenario.Summary:
		c.user(e.At, "This session is being continued from a previous conversation that ran out of context. "+
			"The conversation is summarized below:\n"+e.Text, obj{"isCompactSummary": true})
	case scenario.Refused:
		output := "The user doesn't want to proceed with this tool use. The tool use was rejected. "
		if e.Text != "" {
			output += "To tell you how to proceed, the user said:\n" + e.Text
		}
		c.call(e.At, *e.Call, output, true)
	default:
		output, failed := claudeResult(e)
		c.call(e.At, e, output, failed)
	}
}

// call writes a call and its result, of which Claude Code keeps a text for itself if it failed.
func (c *claudeBook) call(at time.Time, e scenario.Entry, output string, failed bool) {
	name, input := c.tool(e)
	id := c.id()
	c.assistant(at, obj{"type": "tool_use", "id": id, "name": name, "input": input})
	kept := any(obj{"content": output})
	if failed {
		kept = output
	}
	c.user(taken(at), []obj{{"tool_use_id": id, "type": "tool_result", "content": output, "is_error": failed}},
		obj{"toolUseResult": kept})
}

// tool is a call's name and input.
func (c *claudeBook) tool(e scenario.Entry) (name string, input obj) {
	switch e.Kind {
	case scenario.Run:
		return "Bash", obj{"command": commandLine(e)}
	case scenario.Read:
		return "Read", obj{"file_path": c.file(e.Text)}
	case scenario.Edit:
		return "Edit", obj{"file_path": c.file(e.Text), "old_string": e.Old, "new_string": e.New}
	case scenario.Write:
		return "Write", obj{"file_path": c.file(e.Text), "content": e.Content}
	case scenario.Search:
		return "Grep", obj{"pattern": e.Text}
	}
	return e.Text, e.Input
}

// commandLine is a command with its way to the directory that it runs in.
func commandLine(e scenario.Entry) string {
	if e.In == "" {
		return e.Text
	}
	return "cd " + e.In + " && " + e.Text
}

// claudeResult is what a call that was allowed came to.
func claudeResult(e scenario.Entry) (output string, failed bool) {
	switch {
	case e.Fails != "":
		return "<tool_use_error>" + e.Fails + "</tool_use_error>", true
	case e.Exit != 0:
		return fmt.Sprintf("Exit code %d\n%s", e.Exit, e.Output), true
	}
	return e.Output, false
}
