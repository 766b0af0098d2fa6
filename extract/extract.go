// Package extract is Phase 1: one session in, one Extraction out. It knows the
// items of a session and what is worth remembering of them; it knows no
// database, no transcript format and no other session.
//
// Read extract.go (the interface), then builtin.go (the model that needs no
// network); every kind of statement has its own file.
package extract

import (
	"context"

	"memoir"
)

// Input is one session as Phase 1 sees it.
type Input struct {
	Session memoir.Session
	Items   []memoir.Item // redacted, in conversation order
}

// Extractor makes an Extraction of one session.
type Extractor interface {
	// Name is the model's name: provider/model, or "builtin".
	Name() string
	// Extract fills RawMemory, RolloutSummary, RolloutSlug and Title. All texts
	// empty means that nothing was worth keeping. It is safe for concurrent use.
	Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error)
}
