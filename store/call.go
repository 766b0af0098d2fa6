package store

import (
	"context"
	"time"

	"memoir"
)

// Call is a call to a model, as it begins.
type Call struct {
	Work       string // token of the claim that it is made for; empty: for none, and nobody tells what became of it
	Run        string // id of the run
	Phase      string // "extract" or "consolidate"
	SessionKey string // empty in a consolidation
	ProjectID  string
	Model      string
	Expected   memoir.Usage // what it is estimated to take
	Since      time.Time    // from which BeginCall adds up what others spent; zero: it does not
	// Durable makes the entry survive a loss of power, and with it all that was entered
	// before: for a call after another one of the same work has ended.
	Durable bool
}

// CallEnd is what is known of a call once it has ended.
type CallEnd struct {
	Usage      memoir.Usage // Calls may be 2 where a model's API had to be asked twice
	InputBytes int64        // that were asked, if the input tokens are known
	Duration   time.Duration
	Call       string // a word of those below
	Estimated  bool   // nobody told what it took: Usage is an estimate
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
// made. The entry survives the process; a loss of power only as c.Durable says.
//
// In the same transaction it adds up what other runs have spent since c.Since. Of two
// processes that begin a call at once, at least one sees the other's.
func (s *Store) BeginCall(ctx context.Context, c Call) (id int64, others memoir.Usage, err error) {
	db := s.quick
	if c.Durable {
		db = s.durable
	}
	err = s.write(ctx, db, func(t tx) error {
		if !c.Since.IsZero() {
			if others, err = s.spent(t, c.Since, c.Run); err != nil {
				return err
			}
		}
		return t.get(`INSERT INTO ledger (at, run, phase, session_key, project_id, model, calls, input_tokens, cached_tokens,
				output_tokens, cost, duration_ms, outcome, call, estimated, work)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 1, ?) RETURNING id`,
			[]any{millis(s.now()), c.Run, c.Phase, c.SessionKey, c.ProjectID, c.Model, c.Expected.Calls, c.Expected.InputTokens,
				c.Expected.CachedTokens, c.Expected.OutputTokens, c.Expected.Cost, OutcomeUnfinished, CallBegun, c.Work}, &id)
	})
	return id, others, s.explain(err, "entering a call into the ledger")
}

// EndCall enters what a call took in the place of its estimate. One that reached
// nobody, whose Usage.Calls is 0, was none: its entry is removed. The work that it
// was made for may have ended before.
//
// It survives a loss of power once the work has ended, or goes on with a durable
// call: both follow at once as a rule, and a disk that is waited for once is enough.
func (s *Store) EndCall(ctx context.Context, id int64, e CallEnd) error {
	err := s.quickly(ctx, func(t tx) error {
		if e.Usage.Calls == 0 {
			_, err := t.exec(`DELETE FROM ledger WHERE id = ?`, id)
			return err
		}
		_, err := t.exec(`UPDATE ledger SET calls = ?, input_tokens = ?, cached_tokens = ?, output_tokens = ?, cost = ?,
				duration_ms = ?, input_bytes = ?, call = ?, estimated = ? WHERE id = ?`,
			e.Usage.Calls, e.Usage.InputTokens, e.Usage.CachedTokens, e.Usage.OutputTokens, e.Usage.Cost,
			e.Duration.Milliseconds(), e.InputBytes, e.Call, e.Estimated, id)
		return err
	})
	return s.explain(err, "entering into the ledger what a call took")
}
