// Package consolidate is Phase 2: many Extractions of one project in, one set of
// memory files out. It knows statements, how they agree and contradict, and the
// form of the files; it knows no database, no disk and no transcript.
//
// Read consolidate.go (the interface), then builtin.go (the model that needs no
// network), memory.go (its page; what stands on it: lasting.go, ofmoment.go, rule.go,
// remedy.go, overtaken.go, once.go, recent.go, title.go, elsewhere.go), livenotes.go and notes.go (hand edits) and verify.go (what every answer must hold).
// llm.go asks a language model: question.go is one step, batch.go what it shows,
// layout.go and guard.go what becomes of the answer.
package consolidate

import (
	"context"

	"memoir"
)

// Input is what a project's memory is made of.
type Input struct {
	Project        memoir.Project
	Extractions    []memoir.Extraction   // all selected, ordered by SessionKey
	Changed        map[string]bool       // session keys that are new or changed since Current
	Forced         bool                  // a person asked for it: a model is asked about all of them again
	Withdrawn      []string              // session keys that must leave no trace
	Known          []string              // session keys that are inputs too, but were not selected: the cap left them out; citing them is legal
	Lost           []string              // of Known, those whose extraction is lost: what Current has of them alone stays, by KeepLost
	Current        *memoir.Consolidation // live, nil if none
	Notes          []memoir.Note
	Draft          []byte // as the last consolidation left it; nil, or of another version, makes no difference to the result
	SummaryTokens  int    // of memory_summary.md, 4 bytes a token; 0 is the default of 5000
	MaxMemoryBytes int    // of MEMORY.md; 0 is the default of 64 KiB
}

// Consolidator makes a project's memory files of its extractions.
type Consolidator interface {
	// Name is the model's name: provider/model, or "builtin".
	Name() string
	// Consolidate returns the files. Without extractions it fails with
	// memoir.CodeInvalid: a caller never wipes a root for want of input.
	Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error)
}
