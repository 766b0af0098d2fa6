package store

import (
	"cmp"
	"context"
	"math"
	"time"
)

// Failure is the failure of a claimed job.
type Failure struct {
	Message    string
	Transient  bool          // worth another attempt: a timeout, a limit, an invalid answer
	RetryAfter time.Duration // the shortest delay that the server asked for
	Model      string
	Outcome    string // of the work in the ledger; empty is OutcomeFailed

	// Postpone is set if the model's server was unavailable: no attempt is counted, and the job is delayed by at most
	// this time, or by RetryAfter if that is longer. An attempt is counted after all if the job failed before and the
	// model has served other jobs since, because then the session is the likely cause.
	Postpone time.Duration
}

// Policy says how often and when failed jobs are tried again.
type Policy struct {
	MaxAttempts int           // after which a job is dead; 0 means 3
	Base        time.Duration // delay after the first failure, doubled after each further one up to 64*Base
}

// next returns whether a job that failed n times is dead, else its delay. The delay is spread by a quarter
// in both directions, so that jobs that failed together are not tried again together.
func (p Policy) next(n int, f Failure, random float64) (dead bool, delay time.Duration) {
	if !f.Transient || n >= cmp.Or(p.MaxAttempts, 3) {
		return true, 0
	}
	d := float64(p.Base) * math.Min(math.Pow(2, float64(n-1)), 64)
	return false, max(time.Duration(d*(0.75+random/2)), f.RetryAfter)
}

// Fail ends a claim with a failure, and enters its outcome into the ledger. It resets the count of crashes.
// After a transient failure the job is tried again after a delay until the attempts are used up. After any
// other failure it is dead until the session or project changes, or Retry. A project stays due; neither new
// changes nor Enqueue shorten its delay. counted is false if no attempt was counted because of f.Postpone.
//
// The write is durable, since the work may have cost money. If the claim is no longer ours, the error has
// the code memoir.CodeLeaseLost, and nothing is recorded.
func (s *Store) Fail(ctx context.Context, c Claimed, f Failure, p Policy) (counted bool, err error) {
	j := c.job()
	err = s.owning(ctx, durable, j, func(t tx) {
		var attempts int
		t.get(`SELECT attempts FROM job WHERE kind = ? AND key = ?`, []any{j.kind, j.key}, &attempts)
		counted = f.Postpone == 0 || othersServed(t, j, f.Model)
		dead, delay := false, max(min(p.Base, f.Postpone), f.RetryAfter)
		if counted {
			attempts++
			dead, delay = p.next(attempts, f, s.rand())
		}
		status, next := "error", millis(s.now().Add(delay))
		if dead {
			status, next = "dead", 0
		}
		t.exec(`UPDATE job SET status = ?, owner = '', holder = '', lease_until = 0, attempts = ?, crashes = 0,
			next_attempt_at = ?, last_error = ?, model = ?, finished_at = ? WHERE kind = ? AND key = ?`,
			status, attempts, next, f.Message, f.Model, millis(s.now()), j.kind, j.key)
		s.enterFailure(t, j, cmp.Or(f.Outcome, OutcomeFailed))
	})
	return counted, s.explain(err, "recording the failure of %s", j)
}

// enterFailure enters the outcome of failed work into the ledger and updates the reason of its session.
func (s *Store) enterFailure(t tx, j job, outcome string) {
	project := j.key
	if j.kind == kindExtract {
		t.get(`SELECT coalesce(project_id, '') FROM session WHERE key = ?`, []any{j.key}, &project)
	}
	endWork(t, j.token, project, outcome)
	s.settle(t, j.key) // a project's job has no session
}

// othersServed reports whether the model served other jobs since the job last failed.
func othersServed(t tx, j job, model string) (served bool) {
	t.get(`SELECT j.next_attempt_at > 0 AND (
			EXISTS (SELECT 1 FROM extraction WHERE model = ?1 AND session_key <> j.key AND stored_at > j.finished_at)
			OR EXISTS (SELECT 1 FROM job o WHERE j.kind = 'consolidate' AND o.kind = j.kind AND o.key <> j.key
				AND o.status = 'done' AND o.finished_at > j.finished_at))
		FROM job j WHERE j.kind = ?2 AND j.key = ?3`, []any{model, j.kind, j.key}, &served)
	return served
}

// clockSlack is how far the clock may be set back before delays are ignored.
const clockSlack = time.Minute

// waits reports whether a failed job is in backoff; next and failed are in ms. A failure in the future was
// entered before the clock was set back; its delay is ignored, since it would last too long.
func waits(next, failed int64, clock time.Time) bool {
	return next > millis(clock) && failed <= millis(clock.Add(clockSlack))
}

// Retry makes dead, failed and crashed jobs claimable at once, with all their attempts. keys are keys of
// sessions and ids of projects; without keys it applies to all jobs. It returns the number of jobs. A
// crash count above 1 is reduced to 1, so that a crashed job still runs last and alone.
func (s *Store) Retry(ctx context.Context, keys ...string) (int, error) {
	var revived []string
	err := s.quickly(ctx, func(t tx) {
		revived = t.texts(`UPDATE job SET status = 'pending', attempts = 0,
			crashes = min(crashes, 1), next_attempt_at = 0
			WHERE (status IN ('error', 'dead') OR status = 'pending' AND crashes > 0)
				AND (?1 = '[]' OR key IN (SELECT value FROM json_each(?1))) RETURNING key`, jsonList(keys))
		s.settle(t, revived...) // a project's job has no session
	})
	return len(revived), s.explain(err, "reviving jobs")
}
