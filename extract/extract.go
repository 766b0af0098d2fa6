// Package extract is Phase 1: one session in, one Extraction out. It knows the
// items of a session and what is worth remembering of them; it knows no
// database, no transcript format and no other session.
//
// Read extract.go (the interface), then builtin.go (the model that needs no
// network). It arranges the items (session.go: turns, runs of commands, edits),
// finds statements of each kind, weighs them, and keeps what fits (budget.go).
// Every kind begins in the file of its name, the rules behind it are beside it:
//
//	task.go, outcome.go     what was asked and done: offered, retaken; account, ending, letter, told, pull,
//	                        moved, putback, revision, summaries
//	preference.go           what a person wants: standing, buried, foreign, unspaced, once, habit;
//	                        what they settled or declared: steer, granting, referent, refused, choice, stated, declared, echo, spec
//	finding.go              what the agent found: diagnosis, concession, carried, convention, weigh;
//	                        what still holds of it: laststate, mended, outlive, reversed, overruled, unsure
//	failure.go, worked.go   commands: shell, command, program, run, verdict, blame; fix, between, cause, retry, reported
//	file.go, environment.go, procedure.go
//	prose.go, phrase.go, wording.go, person.go    how sentences are read and compared
//	duplicate.go, repeated.go   what is said under two kinds
//
// llm.go asks a language model instead: in how many parts (walk.go, pass.go) and what is known before
// each (earlier.go), what it is shown (shown.go, fit.go with piece and worth), how its answer is read (reply.go, bullets.go) and what the session must show of
// it (evidence.go, verbatim.go).
package extract

import (
	"context"

	"memoir"
)

// Input is one session as Phase 1 sees it.
type Input struct {
	Session memoir.Session
	Items   []memoir.Item // redacted, in conversation order

	// Earlier is what was extracted when the session held no more than the items up to
	// Since, which have not changed; nil: nothing that can be used. It may rest on later
	// ones, which have. A language model is then shown it, and the items after Since; the
	// built-in model reads all anew.
	Earlier *memoir.Extraction
	Since   int // an item's number
}

// Extractor makes an Extraction of one session.
type Extractor interface {
	// Name is the model's name: provider/model, or "builtin".
	Name() string
	// Extract fills RawMemory, RolloutSummary, RolloutSlug and Title. All texts
	// empty means that nothing was worth keeping. It is safe for concurrent use.
	Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error)
}
