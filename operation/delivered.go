package operation

import (
	"context"
	"time"

	"memoir"
	"memoir/deliver"
	"memoir/extract"
	"memoir/memory"
	"memoir/store"
)

// Bounds of Delivered.
const (
	maxDelivered = 100
	maxCalls     = 10 // after a text, in which the command that it names counts as run
)

// Delivered is what sessions were told at failures, edits and prompts, the newest first.
type Delivered struct {
	Delivered []Delivery `json:"delivered"`
	More      int        `json:"more"` // that are not listed
}

// A Delivery is one statement that a session was told.
type Delivery struct {
	At        time.Time `json:"at"`
	Event     string    `json:"event"` // failure, edit or prompt
	Project   string    `json:"project"`
	Session   string    `json:"session"` // its key
	Statement string    `json:"statement"`
	Text      string    `json:"text"` // of the statement; empty if the memory no longer has it
	Ran       *bool     `json:"ran"`  // whether the session ran what had passed, within 10 calls; null: unknown
}

// Delivered lists what sessions were told.
func (a Access) Delivered(ctx context.Context, st *store.Store) (Delivered, error) {
	out := Delivered{Delivered: []Delivery{}}
	receipts, err := deliver.Receipts(a.Home)
	if err != nil {
		return out, err
	}
	out.More = max(0, len(receipts)-maxDelivered)
	known := map[string]map[string]memoir.Statement{} // by project and id
	calls := map[string][]memoir.Item{}               // by session
	for _, r := range receipts[:len(receipts)-out.More] {
		if known[r.Project] == nil {
			known[r.Project] = a.statementsOf(ctx, st, r.Project)
		}
		statement := known[r.Project][r.Statement]
		one := Delivery{At: r.At, Event: r.Event, Project: r.Project, Session: a.Clean(r.Session), Statement: r.Statement,
			Text: a.Clean(statement.Text)}
		if _, read := calls[r.Session]; !read && statement.Fix != "" {
			calls[r.Session] = a.callsOf(ctx, st, r.Session)
		}
		if statement.Fix != "" && len(calls[r.Session]) > 0 {
			one.Ran = ranAfter(calls[r.Session], r.At, statement)
		}
		out.Delivered = append(out.Delivered, one)
	}
	return out, ctx.Err()
}

func (a Access) statementsOf(ctx context.Context, st *store.Store, project string) map[string]memoir.Statement {
	content, _ := memory.At(a.Home, project).Open(memory.StatementsFile) // without it the texts are unknown
	extractions, _ := memory.DecodeStatements(content)
	if st != nil {
		said, _ := st.Said(ctx, project)
		extractions = append(said, extractions...)
	}
	out := map[string]memoir.Statement{}
	for _, e := range extractions {
		for _, s := range e.Statements {
			out[s.ID] = s
		}
	}
	return out
}

// callsOf returns the tool calls of a session; none if it is not registered or cannot be read.
func (a Access) callsOf(ctx context.Context, st *store.Store, key string) (calls []memoir.Item) {
	if st == nil {
		return nil
	}
	_, loaded, err := a.read(ctx, st, key)
	if err != nil {
		return nil
	}
	for _, it := range loaded.Items {
		if it.Kind == memoir.ItemTool {
			calls = append(calls, it)
		}
	}
	return calls
}

// ranAfter reports whether one of the calls after a time has the command that a statement says passed. It is unknown
// until there are enough calls.
func ranAfter(calls []memoir.Item, at time.Time, statement memoir.Statement) *bool {
	n := 0
	for _, it := range calls {
		if !it.At.After(at) {
			continue
		}
		if it.Shell() && extract.Ran(it.Input, statement) {
			return new(true)
		}
		if n++; n == maxCalls {
			return new(false)
		}
	}
	return nil
}
