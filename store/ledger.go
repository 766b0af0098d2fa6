package store

import (
	"context"
	"math"
	"time"

	"memoir"
)

// The outcomes of work that came to nothing but cost something.
const (
	OutcomeUnfinished  = "unfinished" // it is under way, or its process died
	OutcomeFailed      = "failed"
	OutcomeRefused     = "refused"     // the answer could not be used
	OutcomeLost        = "lost"        // another process had taken the work over
	OutcomeInterrupted = "interrupted" // by a signal, a time limit or a fault of ours
	OutcomeLimit       = "limit"       // a spending limit stopped it
)

// EndWork enters what became of work whose calls are in the ledger: a word such as stored, empty,
// kept, unchanged, withdrawn, published, or one of those above. It is for work that ends outside
// a method that enters it itself, such as work whose claim was lost.
func (s *Store) EndWork(ctx context.Context, work, projectID, outcome string) error {
	err := s.durably(ctx, func(t tx) error { return endWork(t, work, projectID, outcome) })
	return s.explain(err, "recording the outcome of work in the ledger")
}

func endWork(t tx, work, projectID, outcome string) error {
	_, err := t.exec(`UPDATE ledger SET outcome = ?, project_id = ?
		WHERE work = ? AND work <> '' AND outcome = 'unfinished'`, outcome, projectID, work)
	return err
}

// Spent sums what a run spent, and what all runs spent on this day of UTC. Calls that are not
// finished count by their estimate.
func (s *Store) Spent(ctx context.Context, run string) (ofRun, today memoir.Usage, err error) {
	err = s.read(ctx, func(t tx) error {
		ofRun, today, err = s.spentBy(t, run)
		return err
	})
	return ofRun, today, s.explain(err, "adding up the ledger")
}

func (s *Store) spentBy(t tx, run string) (ofRun, today memoir.Usage, err error) {
	if ofRun, err = s.spent(t, run, time.Time{}); err == nil {
		today, err = s.spent(t, "", s.now().UTC().Truncate(24*time.Hour))
	}
	return ofRun, today, err
}

// spent sums what a run spent from a moment on. Without a run, all count; the zero time means ever.
func (s *Store) spent(t tx, run string, since time.Time) (memoir.Usage, error) {
	var u memoir.Usage
	err := t.get(`SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0),
			coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0)
		FROM ledger WHERE at >= ?1 AND at <= ?2 AND (?3 = '' OR run = ?3)`,
		[]any{millis(since), s.dated(since), run},
		&u.Calls, &u.InputTokens, &u.CachedTokens, &u.OutputTokens, &u.Cost)
	return u, err
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

// Call is a call to a model, as it begins.
type Call struct {
	Work       string // token of the claim that it is made for; empty: for none, and nobody tells what became of it
	Once       bool   // not if a call was entered for the work
	Run        string // id of the run
	Phase      string // "extract", "consolidate" or "journal"
	SessionKey string // empty in a consolidation
	ProjectID  string
	Model      string
	Expected   memoir.Usage // what it is estimated to take
}

// CallEnd is what is known of a call once it has ended.
type CallEnd struct {
	Usage     memoir.Usage // Calls may be 2 where a model's API had to be asked twice
	Duration  time.Duration
	Call      string // a word of those below
	Estimated bool   // nobody told what it took: Usage is an estimate
}

// What becomes of a call.
const (
	CallBegun       = "begun"       // it is under way, or its process died: what it takes is an estimate
	CallAnswered    = "answered"    // with a whole answer, of use or not
	CallCut         = "cut"         // by the cap on its answer
	CallRefused     = "refused"     // the model or a filter declined
	CallEmpty       = "empty"       // the answer had no word
	CallFailed      = "failed"      // with an error: it took what is known of it, if anything
	CallInterrupted = "interrupted" // by a signal, a time limit of the run or a lease that was lost
)

// BeginCall enters a call before it is made: it counts, by its estimate, from now on
// and whatever becomes of this process. A call that cannot be entered must not be
// made. Allow, unless it is nil, is told what Spent tells; its error keeps the call out
// and is returned. Both are one transaction, so that processes cannot exceed a limit together. A call that is made
// once, and is entered, is refused with memoir.CodeChanged.
//
// The entry survives the process, and a loss of power once its work has ended. A consolidation
// may take many calls: each of its entries is durable, and with it those before.
func (s *Store) BeginCall(
	ctx context.Context, c Call, allow func(ofRun, today memoir.Usage) error,
) (id int64, err error) {
	how := quick
	if c.Phase == kindConsolidate {
		how = durable
	}
	err = s.write(ctx, how, func(t tx) error {
		if allow != nil {
			ofRun, today, err := s.spentBy(t, c.Run)
			if err == nil {
				err = allow(ofRun, today)
			}
			if err != nil {
				return err
			}
		}
		if c.Once {
			known, err := t.exists(`SELECT 1 FROM ledger WHERE work = ?`, c.Work)
			if err == nil && known {
				err = memoir.Errorf(memoir.CodeChanged, "", "the model was already asked")
			}
			if err != nil {
				return err
			}
		}
		return t.get(`INSERT INTO ledger (at, run, phase, session_key, project_id, model, calls, input_tokens, cached_tokens,
				output_tokens, cost, duration_ms, outcome, call, estimated, work)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 1, ?) RETURNING id`,
			[]any{millis(s.now()), c.Run, c.Phase, c.SessionKey, c.ProjectID, c.Model, c.Expected.Calls, c.Expected.InputTokens,
				c.Expected.CachedTokens, c.Expected.OutputTokens, c.Expected.Cost, OutcomeUnfinished, CallBegun, c.Work}, &id)
	})
	return id, s.explain(err, "adding a call to the ledger")
}

// EndCall enters what a call took in the place of its estimate. One that reached
// nobody, whose Usage.Calls is 0, was none: its entry is removed. The work that it
// was made for may have ended before.
//
// It survives a loss of power once the work has ended, which follows at once as a rule.
func (s *Store) EndCall(ctx context.Context, id int64, e CallEnd) error {
	err := s.quickly(ctx, func(t tx) error {
		if e.Usage.Calls == 0 {
			_, err := t.exec(`DELETE FROM ledger WHERE id = ?`, id)
			return err
		}
		_, err := t.exec(`UPDATE ledger SET calls = ?, input_tokens = ?, cached_tokens = ?, output_tokens = ?, cost = ?,
				duration_ms = ?, call = ?, estimated = ? WHERE id = ?`,
			e.Usage.Calls, e.Usage.InputTokens, e.Usage.CachedTokens, e.Usage.OutputTokens, e.Usage.Cost,
			e.Duration.Milliseconds(), e.Call, e.Estimated, id)
		return err
	})
	return s.explain(err, "recording the usage of a call in the ledger")
}

// UsageRow is what was spent on one day with the same model for the same thing.
type UsageRow struct {
	Day       string // of UTC, 2006-01-02: that on which the calls began
	ProjectID string // empty: in no project
	Model     string
	Phase     string // "extract", "consolidate" or "journal"
	Outcome   string // of the work
	Call      string // what became of the calls, in a word; empty where work alone is known
	Usage     memoir.Usage
	Estimated int           // of Usage.Calls: those whose tokens and cost are an estimate
	Duration  time.Duration // of the calls; of the work where they are not known one by one
}

// UsageRows lists what the ledger holds from a moment on, in the order of the fields
// of a row; the zero time means ever.
func (s *Store) UsageRows(ctx context.Context, since time.Time) ([]UsageRow, error) {
	return fetch(ctx, s, func(t tx) ([]UsageRow, error) {
		return collect(t, `SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch'), project_id, model, phase, outcome, call,
				sum(calls), sum(input_tokens), sum(cached_tokens), sum(output_tokens), sum(cost), sum(calls * estimated),
				sum(duration_ms) * 1000000
			FROM ledger WHERE at >= ? GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`, []any{millis(since)},
			func(scan scanner, r *UsageRow) error {
				return scan(&r.Day, &r.ProjectID, &r.Model, &r.Phase, &r.Outcome, &r.Call, &r.Usage.Calls, &r.Usage.InputTokens,
					&r.Usage.CachedTokens, &r.Usage.OutputTokens, &r.Usage.Cost, &r.Estimated, &r.Duration)
			})
	}, "listing usage")
}
