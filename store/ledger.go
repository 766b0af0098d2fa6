package store

import (
	"context"
	"math"
	"time"

	"memoir"
)

// LedgerEntry says what became of one piece of work that models were asked for. Its
// calls have entries of their own, by BeginCall, which get its outcome. Only for work
// without any is this an entry by itself, with what the work says that it spent.
type LedgerEntry struct {
	Work       string // token of its claim
	At         time.Time
	Run        string // id of the run
	Phase      string // "extract" or "consolidate"
	SessionKey string // empty in a consolidation
	ProjectID  string
	Model      string
	Usage      memoir.Usage
	InputBytes int64 // of the calls whose input tokens are known; 0: not known
	Duration   time.Duration
	Outcome    string // a word: stored, empty, kept, unchanged, withdrawn, published, or one of those below
}

// The outcomes of work that came to nothing but cost something.
const (
	OutcomeUnfinished  = "unfinished" // it is under way, or its process died
	OutcomeFailed      = "failed"
	OutcomeRefused     = "refused"     // the answer could not be used
	OutcomeLost        = "lost"        // another process had taken the work over
	OutcomeInterrupted = "interrupted" // by a signal, a time limit or a fault of ours
	OutcomeLimit       = "limit"       // a spending limit stopped it
)

// AddLedger records what became of work outside a method that records it itself, such
// as of work whose claim was lost. Entries without a call are left out.
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
	if e.Work != "" {
		n, err := t.exec(`UPDATE ledger SET outcome = ?, project_id = ? WHERE work = ? AND outcome = 'unfinished'`,
			e.Outcome, e.ProjectID, e.Work)
		if err != nil || n > 0 {
			return err
		}
	}
	if e.Usage.Calls == 0 {
		return nil
	}
	if e.At.IsZero() {
		e.At = s.now()
	}
	_, err := t.exec(`INSERT INTO ledger (at, run, phase, session_key, project_id, model, calls, input_tokens, cached_tokens,
			output_tokens, cost, duration_ms, outcome, input_bytes, work) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		millis(e.At), e.Run, e.Phase, e.SessionKey, e.ProjectID, e.Model, e.Usage.Calls, e.Usage.InputTokens, e.Usage.CachedTokens,
		e.Usage.OutputTokens, e.Usage.Cost, e.Duration.Milliseconds(), e.Outcome, e.InputBytes, e.Work)
	return err
}

// Spent sums what was spent from a moment on; the zero time means ever. Calls that are
// not finished count by their estimate.
func (s *Store) Spent(ctx context.Context, since time.Time) (memoir.Usage, error) {
	return s.SpentBeside(ctx, since, "")
}

// SpentBeside is Spent without what one run spent, which that run knows better: of its
// calls under way the ledger has but the estimates.
func (s *Store) SpentBeside(ctx context.Context, since time.Time, run string) (memoir.Usage, error) {
	var u memoir.Usage
	err := s.read(ctx, func(t tx) (err error) {
		u, err = s.spent(t, since, run)
		return err
	})
	return u, s.explain(err, "adding up the ledger")
}

// dated is the latest time, in ms, that counts as since a moment. What is dated further
// ahead than a day was entered by a clock that was wrong: it is no part of today, or it
// would be of each day until then.
func (s *Store) dated(since time.Time) int64 {
	if since.IsZero() {
		return math.MaxInt64
	}
	return millis(s.now().Add(24 * time.Hour))
}

func (s *Store) spent(t tx, since time.Time, beside string) (memoir.Usage, error) {
	var u memoir.Usage
	err := t.get(`SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0),
			coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0) FROM ledger WHERE at >= ?1 AND at <= ?3 AND (?2 = '' OR run <> ?2)`,
		[]any{millis(since), beside, s.dated(since)}, &u.Calls, &u.InputTokens, &u.CachedTokens, &u.OutputTokens, &u.Cost)
	return u, err
}
