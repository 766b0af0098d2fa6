package store

import (
	"context"
	"time"

	"memoir"
)

// LedgerEntry is what one piece of work spent on models.
type LedgerEntry struct {
	At         time.Time
	Run        string // id of the run
	Phase      string // "extract" or "consolidate"
	SessionKey string // empty in a consolidation
	ProjectID  string
	Model      string
	Usage      memoir.Usage
	Duration   time.Duration
	Outcome    string // a word: stored, empty, kept, unchanged, withdrawn, published, failed, lost, …
}

// AddLedger records what was spent outside a method that records it itself, such
// as by work whose claim was lost. Entries without a call are left out.
func (s *Store) AddLedger(ctx context.Context, entries ...LedgerEntry) error {
	err := s.durably(ctx, func(t tx) error {
		for _, e := range entries {
			if err := s.addLedger(t, e); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "adding to the ledger")
}

func (s *Store) addLedger(t tx, e LedgerEntry) error {
	if e.Usage.Calls == 0 {
		return nil
	}
	if e.At.IsZero() {
		e.At = s.now()
	}
	_, err := t.exec(`INSERT INTO ledger (at, run, phase, session_key, project_id, model, calls, input_tokens, cached_tokens,
			output_tokens, cost, duration_ms, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		millis(e.At), e.Run, e.Phase, e.SessionKey, e.ProjectID, e.Model, e.Usage.Calls, e.Usage.InputTokens, e.Usage.CachedTokens,
		e.Usage.OutputTokens, e.Usage.Cost, e.Duration.Milliseconds(), e.Outcome)
	return err
}

// Spent sums what was spent from a moment on; the zero time means ever.
func (s *Store) Spent(ctx context.Context, since time.Time) (memoir.Usage, error) {
	var u memoir.Usage
	err := s.read(ctx, func(t tx) (err error) {
		u, err = spent(t, since)
		return err
	})
	return u, s.explain(err, "adding up the ledger")
}

func spent(t tx, since time.Time) (memoir.Usage, error) {
	var u memoir.Usage
	err := t.get(`SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0),
			coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0) FROM ledger WHERE at >= ?`, []any{millis(since)},
		&u.Calls, &u.InputTokens, &u.CachedTokens, &u.OutputTokens, &u.Cost)
	return u, err
}
