package main

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"memoir/internal/lazyregexp"
)

// hookInput is what agents write to a hook's standard input, each with its own
// names for the same things.
type hookInput struct {
	Event         string
	SessionID     string
	SessionCamel  string // Copilot
	Conversation  string // Cursor
	CWD           string
	WorkingDir    string   // Goose
	Workspaces    []string // Cursor, whose cwd is its own directory
	CursorVersion string
}

// maxHookInput bounds what is read of a hook's input, in bytes. Prompts are in it.
const maxHookInput = 1 << 20

// readHook reads the first JSON value of a hook's input. Some agents leave the
// pipe open, and a person's shell may have one that never carries anything, so
// after patience nothing counts as read.
func readHook(stdin *os.File, patience time.Duration) (hookInput, bool) {
	if stdin == nil || isTerminal(stdin) {
		return hookInput{}, false
	}
	type result struct {
		in hookInput
		ok bool
	}
	read := make(chan result, 1)
	go func() {
		in, ok := parseHook(io.LimitReader(stdin, maxHookInput))
		read <- result{in, ok}
	}()
	select {
	case r := <-read:
		return r.in, r.ok
	case <-time.After(patience):
		return hookInput{}, false
	}
}

// parseHook reads one JSON object; fields of an unexpected type are passed over.
func parseHook(r io.Reader) (hookInput, bool) {
	var fields map[string]json.RawMessage
	if err := json.NewDecoder(r).Decode(&fields); err != nil || fields == nil {
		return hookInput{}, false
	}
	var in hookInput
	for name, target := range map[string]any{
		"hook_event_name": &in.Event, "session_id": &in.SessionID, "sessionId": &in.SessionCamel,
		"conversation_id": &in.Conversation, "cwd": &in.CWD, "working_dir": &in.WorkingDir,
		"workspace_roots": &in.Workspaces, "cursor_version": &in.CursorVersion,
	} {
		if raw, ok := fields[name]; ok {
			_ = json.Unmarshal(raw, target)
		}
	}
	return in, true
}

// session returns the id of the session that the hook belongs to.
func (in hookInput) session() string {
	for _, id := range []string{in.SessionID, in.SessionCamel, in.Conversation} {
		if sessionID.MatchString(id) {
			return id
		}
	}
	return ""
}

// sessionID is the form of a session's id. What a hook says of it becomes an
// argument and stands in a log, so nothing else is taken for one.
var sessionID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// directory returns where the agent works, "" if the hook does not say.
func (in hookInput) directory() string {
	if len(in.Workspaces) > 0 {
		return in.Workspaces[0]
	}
	if in.CWD != "" {
		return in.CWD
	}
	return in.WorkingDir
}
