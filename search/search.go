// Package search finds what memories and sessions say: lines of MEMORY.md, rollout summaries, statements and
// claims, and what people and agents said. It knows the database, memory's files and SQLite's full-text
// index; it knows no model, no flag and no terminal. Start with search.go (what is asked and answered).
package search

import (
	"context"
	"time"
)

// Query says what to look for.
type Query struct {
	Text      string // words; none of it is syntax
	ProjectID string // only in this project; empty: in all
	Max       int    // hits at most; 0 means 10
}

// The sources of a hit.
const (
	SourceMemory    = "memory"    // a line of MEMORY.md
	SourceSummary   = "summary"   // a rollout summary
	SourceStatement = "statement" // a statement of a raw memory
	SourceClaim     = "claim"     // what only the agent claimed
	SourceTyped     = "typed"     // what a person typed
	SourceAgent     = "agent"     // what the agent said
)

// Hit is one place that answers a query. A session has at most one, besides lines of MEMORY.md.
type Hit struct {
	ProjectID string // empty: none
	// Path is memory://root/MEMORY.md, memory://root/rollout_summaries/NAME, or session:KEY.
	Path               string
	StartLine, EndLine int // of a file, from 1; 0 for a session
	Score              float64
	Snippet            string // one line of at most 100 tokens, neutralised
	Source             string
	Session            string    // the session's key; empty for a line of MEMORY.md
	Item               int       // of the session; 0: not known
	At                 time.Time // of the item, else the session's last; zero: not known
}

// Result is the answer to a query.
type Result struct {
	Hits   []Hit // the best first
	Behind bool  // the index lacks something that is stored: the next run adds it
}

// Find looks for a query's words in a home.
func Find(ctx context.Context, home string, q Query) (Result, error) {
	return Result{Hits: []Hit{}, Behind: true}, ctx.Err()
}
