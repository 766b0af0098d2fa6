package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"memoir"
)

// Failure is why a claimed job was not done.
type Failure struct {
	Message    string
	Transient  bool          // worth another attempt: a timeout, a limit, an answer that made no sense
	RetryAfter time.Duration // the least time until then that the other side asked for
	// What the attempt cost all the same, for the ledger, if it has no call of this work.
	Usage      memoir.Usage
	InputBytes int64 // as in LedgerEntry
	Duration   time.Duration
	Model      string
	Run        string
	Outcome    string // empty is OutcomeFailed

	PostponedFor time.Duration // the longest wait of what is postponed, where the other side asked for none
}

func (f Failure) outcome() string { return cmp.Or(f.Outcome, OutcomeFailed) }

// Policy says how often and when failed jobs are tried again.
type Policy struct {
	MaxAttempts int           // after which a job is dead; 0 means 3
	Base        time.Duration // delay after the first failure, doubled with each further one
	Max         time.Duration // longest delay; 0 means 64 times Base
}

// next returns whether a job that has now failed n times is dead, and else how
// long it waits: within a quarter of the doubled delay, so that jobs which failed
// together do not come back together.
func (p Policy) next(n int, f Failure, random float64) (dead bool, delay time.Duration) {
	limit := p.MaxAttempts
	if limit == 0 {
		limit = 3
	}
	if !f.Transient || n >= limit {
		return true, 0
	}
	longest := p.Max
	if longest == 0 {
		longest = 64 * p.Base
	}
	d := math.Min(float64(p.Base)*math.Pow(2, float64(n-1)), float64(longest))
	return false, max(time.Duration(d*(0.75+random/2)), f.RetryAfter)
}

// FailClaim ends a claim without a result. A transient failure is tried again
// after a delay until the attempts are used up; any other makes the job dead until
// the session changes or Retry. The error has the code memoir.CodeLeaseLost, and
// nothing is recorded, when the claim is no longer ours.
func (s *Store) FailClaim(ctx context.Context, c Claim, f Failure, p Policy) error {
	key := c.Session.Key()
	err := s.write(ctx, s.handleFor(f.Usage), func(t tx) error {
		if err := s.fail(t, kindExtract, key, c.Token, f, p); err != nil {
			return err
		}
		return s.enterFailure(t, c, f)
	})
	return s.explain(err, "recording failure of session %s", key)
}

// enterFailure enters into the ledger what a session's failed work cost, and judges the
// session anew.
func (s *Store) enterFailure(t tx, c Claim, f Failure) error {
	key := c.Session.Key()
	var project sql.NullString
	if err := t.get(`SELECT project_id FROM session WHERE key = ?`, []any{key}, &project); err != nil {
		return err
	}
	if err := s.addLedger(t, LedgerEntry{Work: c.Token, At: s.now(), Run: f.Run, Phase: kindExtract, SessionKey: key, ProjectID: project.String,
		Model: f.Model, Usage: f.Usage, InputBytes: f.InputBytes, Duration: f.Duration, Outcome: f.outcome()}); err != nil {
		return err
	}
	return s.settle(t, key)
}

// handleFor chooses durability by whether there is something to enter in the ledger.
func (s *Store) handleFor(u memoir.Usage) *sql.DB {
	if u.Calls > 0 {
		return s.durable
	}
	return s.quick
}

func (s *Store) fail(t tx, kind, key, token string, f Failure, p Policy) error {
	var attempts int
	err := t.get(`SELECT attempts FROM job WHERE kind = ? AND key = ? AND owner = ? AND owner <> '' AND status = 'running'`,
		[]any{kind, key, token}, &attempts)
	if errors.Is(err, sql.ErrNoRows) {
		return lost(kind + " " + key)
	}
	if err != nil {
		return err
	}
	attempts++
	now := s.now()
	status, next := "error", int64(0)
	if dead, delay := p.next(attempts, f, s.rand()); dead {
		status = "dead"
	} else {
		next = millis(now.Add(delay))
	}
	// That the process lived to say so clears it of what was suspected.
	_, err = t.exec(`UPDATE job SET status = ?, owner = '', holder = '', lease_until = 0, attempts = ?, crashes = 0,
		next_attempt_at = ?, last_error = ?, model = ?, finished_at = ? WHERE kind = ? AND key = ?`,
		status, attempts, next, f.Message, f.Model, millis(now), kind, key)
	return err
}

// Retry makes jobs that were given up, that failed, or that processes died over claimable
// again at once, with all their attempts: those of the given sessions' keys and
// projects' ids, or all of them. It returns how many. Of one that processes died over
// all deaths but one are taken back, so that it still runs last and alone.
func (s *Store) Retry(ctx context.Context, keys ...string) (int, error) {
	var revived []string
	err := s.quickly(ctx, func(t tx) (err error) {
		where, args := ``, []any{}
		if len(keys) > 0 {
			where, args = ` AND key IN (SELECT value FROM json_each(?))`, append(args, jsonList(keys))
		}
		revived, err = keysOf(t, `UPDATE job SET status = 'pending', attempts = 0, crashes = min(crashes, 1), next_attempt_at = 0
			WHERE (status IN ('error', 'dead') OR status = 'pending' AND crashes > 0)`+where+` RETURNING key`, args...)
		if err != nil {
			return err
		}
		for _, key := range revived {
			if err := s.settle(t, key); err != nil && !errors.Is(err, sql.ErrNoRows) { // a project's job has no session
				return err
			}
		}
		return nil
	})
	return len(revived), s.explain(err, "reviving jobs")
}
