// Package operation is what every door to memory offers: the command line, MCP and HTTP. Each operation has a function
// and the form of its JSON, whose times are UTC and null if they are unknown. It knows no flag, no terminal, no request
// and no budget of an answer: doors parse, call an operation and render its result. An operation that is one call of
// another package, such as search.Find, pipeline.Patch and pipeline.Forget, has no other function here.
//
// Read operation.go first (what operations need of a door; notes, messages, recap), then session.go (list, find,
// show), generation.go (log, diff), status.go (projects, jobs, use of models), why.go (the
// lines of a memory with their sources), review.go (what a person has not answered yet).
package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
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
	// CatchUp reads what agents have written since the last scan, so that a search finds it.
	CatchUp func(context.Context) error
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
	return new(t.UTC())
}

// Zoned formats a time for people: local, to the minute, with its zone. Only columns of tables leave out the zone.
func Zoned(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// Entry is the form of a note, a journal line or another entry.
type Entry struct {
	ID         int64  `json:"id"`
	Project    string `json:"project"`
	Kind       string `json:"kind"`
	Category   string `json:"category"`
	Source     string `json:"source"`
	Content    string `json:"content"`
	CreatedAt  string `json:"created_at"`
	AccessedAt string `json:"last_accessed"`
	Note       string `json:"note,omitempty"`     // what was redacted, what an agent's note waits for
	Replaces   int64  `json:"replaces,omitempty"` // the number of a note
}

// EntryOf returns the form of an entry.
func EntryOf(e memoir.Entry) Entry {
	const layout = "2006-01-02T15:04:05.000Z"
	out := Entry{e.ID, e.ProjectID, string(e.Kind), e.Category, string(e.Author), e.Text,
		e.CreatedAt.UTC().Format(layout), e.AccessedAt.UTC().Format(layout), "", e.Replaces}
	if e.Kind == memoir.EntryNote && e.Author != memoir.AuthorUser {
		out.Note = fmt.Sprintf("a search finds it; sessions get it once a person confirms it: `memoir remember '#%d'`", e.ID)
	}
	return out
}

// Entries is a list of entries.
type Entries struct {
	Entries []Entry `json:"entries"`
}

// EntriesOf returns the form of a list of entries.
func EntriesOf(entries []memoir.Entry) Entries {
	return Entries{memoir.Map(entries, EntryOf)}
}

// marks matches what stands in the place of a secret.
var marks = lazyregexp.New(`\[REDACTED:([\w-]+)\]`)

// Remember redacts an entry and stores it, and says by which rules. If it exists, added is false, and stored is the
// existing one.
func (a Access) Remember(ctx context.Context, st *store.Store, opts pipeline.Options, e memoir.Entry) (
	stored Entry, added bool, err error) {
	b, err := pipeline.Book(st, opts, a.Redact)
	if err != nil {
		return Entry{}, false, err
	}
	given := e.Text
	e, added, err = b.Write(ctx, e)
	stored = EntryOf(e)
	var rules []string
	for _, m := range marks.FindAllStringSubmatch(e.Text, -1) {
		if !strings.Contains(given, m[0]) && !slices.Contains(rules, m[1]) {
			rules = append(rules, m[1])
		}
	}
	if len(rules) > 0 {
		stored.Note = strings.TrimSuffix("redacted: "+strings.Join(rules, ", ")+"; "+stored.Note, "; ")
	}
	return stored, added, err
}

// Say adds messages to a conversation of a project, and starts a run for its sessions that are full.
func (a Access) Say(ctx context.Context, st *store.Store, opts pipeline.Options, projectID, conversation string,
	messages []pipeline.Message) (pipeline.Spoken, error) {
	out, err := pipeline.Say(ctx, st, opts, projectID, conversation, messages)
	if err == nil {
		err = a.Extract(out.Full)
	}
	return out, err
}

// Recap is the end of a session.
type Recap struct {
	Session  string                  `json:"session"`
	Messages []pipeline.RecapMessage `json:"messages"`
}

// recapText bounds each message of a recap, in characters.
const recapText = 800

// Recap returns the last messages of a session.
func (a Access) Recap(ctx context.Context, session memoir.Session) (Recap, error) {
	loaded, err := pipeline.LoadSession(ctx, a.Home, session, a.Scanner)
	if err != nil {
		return Recap{}, err
	}
	messages, _ := pipeline.Recap(loaded.Items, recapText, a.Redact)
	return Recap{session.Key(), messages}, nil
}
