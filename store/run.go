package store

import (
	"context"
	"time"

	"memoir/lease"
)

// runsKept is how many runs are remembered.
const runsKept = 20

// RunOutcome says how a run ended.
type RunOutcome string

// The outcomes of runs.
const (
	RunDone        RunOutcome = "done"
	RunPartly      RunOutcome = "partly"      // something failed, or a limit stopped it
	RunBusy        RunOutcome = "busy"        // another process held what it wanted
	RunFailed      RunOutcome = "failed"      // an error ended it
	RunInterrupted RunOutcome = "interrupted" // by a signal or its time limit
)

// RunEnd is how a run ended. Its texts are redacted.
type RunEnd struct {
	Outcome RunOutcome
	Reason  string // why it did not do all; empty: it did
	Hint    string // what can be done about that; may be empty
	Left    int    // sessions that it left to be done
}

// RunRow is one of the latest runs.
type RunRow struct {
	ID     string // as in the ledger
	Holder lease.Holder
	Began  time.Time
	Ended  time.Time // zero: it is under way, or its process died
	RunEnd
}

// BeginRun notes that a run began. It waits for the database for no more than a
// second: the run has better uses for its patience.
func (s *Store) BeginRun(ctx context.Context, id string, holder lease.Holder) error {
	ctx, cancel := context.WithTimeout(ctx, giveBackWithin)
	defer cancel()
	err := s.quickly(ctx, func(t tx) error {
		if _, err := t.exec(`INSERT INTO run (run, holder, began_at) VALUES (?, ?, ?)`, id, holder.String(), millis(s.now())); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM run WHERE id <= (SELECT max(id) FROM run) - ?`, runsKept)
		return err
	})
	return s.explain(err, "noting that a run began")
}

// EndRun notes how a run ended. Like GiveBack, it goes on for a second when ctx has
// ended, and waits no longer than that.
func (s *Store) EndRun(ctx context.Context, id string, end RunEnd) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	err := s.quickly(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE run SET ended_at = ?, outcome = ?, reason = ?, hint = ?, remained = ? WHERE run = ?`,
			millis(s.now()), string(end.Outcome), end.Reason, end.Hint, end.Left, id)
		return err
	})
	return s.explain(err, "noting how a run ended")
}

// Runs lists the latest runs, at most runsKept, the last begun first.
func (s *Store) Runs(ctx context.Context) ([]RunRow, error) {
	runs := []RunRow{}
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT run, holder, began_at, ended_at, outcome, reason, hint, remained FROM run ORDER BY id DESC`, nil,
			func(scan func(...any) error) error {
				var r RunRow
				var holder string
				var began, ended int64
				err := scan(&r.ID, &holder, &began, &ended, &r.Outcome, &r.Reason, &r.Hint, &r.Left)
				r.Holder, _ = lease.ParseHolder(holder)
				r.Began, r.Ended = moment(began), moment(ended)
				runs = append(runs, r)
				return err
			})
	})
	return runs, s.explain(err, "listing runs")
}
