// Package operation is what every door to memory offers: the command line, MCP and HTTP. Each operation has a function
// and the form of its JSON, whose times are UTC and null if they are unknown. It knows no flag, no terminal, no request
// and no budget of an answer: doors parse, call an operation and render its result. An operation that is one call of
// another package, such as search.Find, pipeline.Patch and pipeline.Forget, has no other function here.
//
// Read operation.go first (what operations need of a door), then session.go (list, find, show), remember.go (notes,
// messages, recap), generation.go (log, diff), status.go and queue.go (projects, jobs, use of models), evidence.go (the
// lines of a memory with their sources).
package operation

import (
	"context"
	"time"

	"memoir/memory"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

// Access is how a door reads and changes memory. All fields are required.
type Access struct {
	Home   string
	Redact func(string) string // replaces secrets in a text
	// Scanner returns the scanner for secrets in sessions.
	Scanner func() (*secrets.Scanner, error)
	// Read opens the registry for reading. Change opens it for writing, with the options of changes to memory.
	Read   func(context.Context) (*store.Store, error)
	Change func(context.Context) (pipeline.Options, *store.Store, error)
	// Extract starts a run in another process that extracts from sessions, if runs are enabled.
	Extract func(keys []string) error
}

// Clean redacts and neutralises a text.
func (a Access) Clean(text string) string { return memory.Neutralise(a.Redact(text)) }

// Time returns a time in UTC, nil for the zero time.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// list returns items, and an empty slice for nil: JSON then has [], not null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
