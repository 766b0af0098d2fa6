package transcript

import (
	"fmt"
	"path"
	"strings"
	"time"

	"memoir/bench/memory/scenario"
)

// codex writes a rollout of Codex, enveloped lines: commands with exec_command, changes
// with apply_patch, and what is said as a response item, that of a person as an event, too.
func (f *File) codex() {
	f.record(f.session.At, "session_meta", obj{"id": f.ID, "cwd": f.project.Dir, "source": "cli",
		"git": obj{"branch": f.session.Branch, "repository_url": f.project.Remote}})
	for i, e := range f.session.Said {
		f.codexEntry(i, e)
	}
}

func (f *File) record(at time.Time, kind string, payload obj) {
	f.line(at, obj{"type": kind, "payload": payload})
}

func (f *File) codexEntry(i int, e scenario.Entry) {
	switch e.Kind {
	case scenario.Person:
		f.prompt(e.At, e.Text, true)
	case scenario.Queued: // the agent may have ended meanwhile
		f.prompt(e.At, e.Text, i > 0 && f.session.Closing(i-1))
	case scenario.Agent:
		phase := "commentary"
		if f.session.Closing(i) {
			phase = "final_answer"
		}
		f.record(e.At, "response_item", obj{"type": "message", "role": "assistant", "phase": phase,
			"content": []obj{{"type": "output_text", "text": e.Text}}})
	case scenario.Injected:
		f.message(e.At, e.Text) // no event says that somebody typed it
	case scenario.Summary:
		f.record(e.At, "compacted", obj{"message": e.Text})
	case scenario.Interrupted:
		f.record(e.At, "event_msg", obj{"type": "turn_aborted", "reason": "interrupted"})
	case scenario.Refused:
		f.codexCall(e.At, *e.Call, "exec command rejected by user")
		if e.Text != "" {
			f.prompt(e.At.Add(scenario.Step/2), e.Text, true)
		}
	default:
		f.codexCall(e.At, e, codexResult(e))
	}
}

func (f *File) message(at time.Time, text string) {
	f.record(at, "response_item", obj{"type": "message", "role": "user",
		"content": []obj{{"type": "input_text", "text": text}}})
}

// prompt writes what a person typed, which may begin a turn.
func (f *File) prompt(at time.Time, text string, begins bool) {
	if begins {
		f.record(at, "event_msg", obj{"type": "task_started", "turn_id": f.id()})
	}
	f.message(at, text)
	f.record(at, "event_msg", obj{"type": "user_message", "message": text})
}

// codexCall writes a call and what it came to.
func (f *File) codexCall(at time.Time, e scenario.Entry, output string) {
	id, input, kind, call := f.id(), e.Input, "function_call", obj{"name": e.Text}
	if patch := f.patch(e); patch != "" {
		kind, call = "custom_tool_call", obj{"name": "apply_patch", "input": patch}
	} else if command := codexCommand(e); command != "" {
		call["name"], input = "exec_command", obj{"cmd": command, "workdir": path.Join(f.project.Dir, e.In)}
	}
	call["type"], call["call_id"], call["arguments"] = kind, id, string(encode(input))
	f.record(at, "response_item", call)
	f.record(taken(at), "response_item", obj{"type": kind + "_output", "call_id": id, "output": output})
}

// codexCommand is the command line of what Codex does in a shell: files are read and
// searched there, too.
func codexCommand(e scenario.Entry) string {
	quoted := "'" + strings.ReplaceAll(e.Text, "'", `'\''`) + "'"
	switch e.Kind {
	case scenario.Run:
		return e.Text
	case scenario.Read:
		return "cat " + quoted
	case scenario.Search:
		return "rg -n " + quoted
	}
	return ""
}

// patch is the input of apply_patch, "" for a call that changes no file.
func (f *File) patch(e scenario.Entry) string {
	switch e.Kind {
	case scenario.Edit:
		return "*** Begin Patch\n*** Update File: " + f.file(e.Text) + "\n@@\n" +
			prefixed("-", e.Old) + prefixed("+", e.New) + "*** End Patch\n"
	case scenario.Write:
		return "*** Begin Patch\n*** Add File: " + f.file(e.Text) + "\n" + prefixed("+", e.Content) + "*** End Patch\n"
	}
	return ""
}

func prefixed(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// codexResult is what a call that was allowed came to.
func codexResult(e scenario.Entry) string {
	switch {
	case codexCommand(e) != "":
		return fmt.Sprintf("Wall time: 1.2000 seconds\nProcess exited with code %d\nOutput:\n%s\n",
			codexExit(e), e.Output+e.Fails)
	case e.Fails != "":
		return "tool call error: " + e.Fails
	case e.Kind == scenario.Tool:
		return "Wall time: 0.8000 seconds\nOutput:\n" + e.Output
	}
	return "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM " + e.Text + "\n"
}

// codexExit is the exit status of what ran in a shell.
func codexExit(e scenario.Entry) int {
	if e.Fails != "" {
		return 2
	}
	return e.Exit
}
