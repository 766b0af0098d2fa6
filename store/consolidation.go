package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"memoir"
	"memoir/lease"
)

// ProjectClaimOptions says for whom a project is claimed.
type ProjectClaimOptions struct {
	Holder lease.Holder
	Lease  time.Duration // how long the claim lasts unless extended
	// Always claims a project that is not due or has to wait, too: for work on it
	// other than a consolidation. GiveBackProject ends such a claim. That its holder
	// dies says nothing about consolidating.
	Always bool
	// NoSuspects declines a project that a process died over: those come last in a run.
	NoSuspects bool
}

// Declined says why a project that nobody works on was not claimed.
type Declined string

// The reasons.
const (
	DeclinedNotDue  Declined = "not_due" // nothing changed since the last consolidation, and nobody asked for one
	DeclinedBackoff Declined = "backoff" // it failed, and is tried again at RetryAt
	DeclinedDead    Declined = "dead"    // it failed too often; a change or Retry revives it
	DeclinedSuspect Declined = "suspect" // a process died over it, and NoSuspects was asked for
)

// ProjectClaim is the right to consolidate one project, for as long as its token
// and fence stand in the database.
type ProjectClaim struct {
	ProjectID  string
	Token      string
	Fence      int64 // greater than that of every earlier claim on the project
	Seq        int64 // the change sequence that is consumed when the claim ends well; 0: none
	Generation int64 // the live one
	Forced     bool  // a person asked for it, whether or not anything changed
	Attempt    int   // from 1
	Crashes    int
	StartedAt  time.Time // by the store's clock
	LeaseUntil time.Time

	// Set when the project was not claimed.
	Declined  Declined
	RetryAt   time.Time
	LastError string
}

// ClaimProject claims the consolidation of a project if it is due; whether it is,
// is part of the transaction, so that the fence moves only for real work. When it
// is not, or has to wait after a failure, ok is false and claim.Declined says why.
// When a process that lives consolidates it, the error has the code
// memoir.CodeBusy and names that process.
func (s *Store) ClaimProject(ctx context.Context, projectID string, o ProjectClaimOptions) (claim ProjectClaim, ok bool, err error) {
	err = s.quickly(ctx, func(t tx) (err error) {
		claim, ok, err = s.claimProject(t, projectID, o)
		return err
	})
	if memoir.CodeOf(err) == memoir.CodeBusy {
		return claim, false, err
	}
	return claim, ok && err == nil, s.explain(err, "claiming project %s", projectID)
}

func (s *Store) claimProject(t tx, id string, o ProjectClaimOptions) (c ProjectClaim, ok bool, err error) {
	now := s.now()
	c.ProjectID = id
	var due bool
	err = t.get(`SELECT p.change_seq, p.generation, p.forced_seq > p.consumed_seq, `+isDue+` FROM project p WHERE p.id = ?`, []any{id},
		&c.Seq, &c.Generation, &c.Forced, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them", "no project has the id %q", id)
	}
	if err != nil {
		return c, false, err
	}
	if _, err := s.takeOver(t, kindConsolidate); err != nil {
		return c, false, err
	}
	var status, holder, input string
	var since, until, next, failed int64
	err = t.get(`SELECT status, holder, started_at, lease_until, input_version, next_attempt_at, coalesce(finished_at, 0), last_error, crashes FROM job
		WHERE kind = 'consolidate' AND key = ?`, []any{id}, &status, &holder, &since, &until, &input, &next, &failed, &c.LastError, &c.Crashes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return c, false, err
	}
	version, errand := strconv.FormatInt(c.Seq, 10), 0
	switch {
	case status == "running":
		return c, false, busy(holder, moment(since), moment(until))
	case o.Always:
		errand = 1
		if status == "dead" && input == version {
			errand = 2
		}
	case !due:
		c.Declined = DeclinedNotDue
		return c, false, nil
	case status == "dead" && input == version:
		c.Declined = DeclinedDead
		return c, false, nil
	case waits(next, failed, now):
		c.Declined, c.RetryAt = DeclinedBackoff, moment(next)
		return c, false, nil
	case o.NoSuspects && c.Crashes > 0:
		c.Declined = DeclinedSuspect
		return c, false, nil
	}
	c.Token, c.LastError = lease.NewToken(), ""
	c.StartedAt, c.LeaseUntil = moment(millis(now)), moment(millis(s.ticks().Add(o.Lease)))
	if err := t.get(`UPDATE counter SET n = n + 1 WHERE name = 'fence' RETURNING n`, nil, &c.Fence); err != nil {
		return c, false, err
	}
	if _, err := t.exec(`UPDATE project SET fence = ? WHERE id = ?`, c.Fence, id); err != nil {
		return c, false, err
	}
	err = t.get(`INSERT INTO job (kind, key, status, owner, holder, lease_until, input_version, started_at, errand)
		VALUES ('consolidate', ?1, 'running', ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT (kind, key) DO UPDATE SET status = 'running', owner = ?2, holder = ?3, lease_until = ?4, started_at = ?6, errand = ?7,
			attempts = CASE WHEN input_version = ?5 THEN attempts ELSE 0 END,
			crashes = CASE WHEN input_version = ?5 THEN crashes ELSE min(crashes, 1) END,
			input_version = ?5
		RETURNING attempts + 1, crashes`,
		[]any{id, c.Token, o.Holder.String(), millis(c.LeaseUntil), version, millis(now), errand}, &c.Attempt, &c.Crashes)
	return c, err == nil, err
}

// busy does not name the project: who asked for it knows which one.
func busy(holder string, since, until time.Time) error {
	h, _ := lease.ParseHolder(holder)
	return memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait",
		"consolidated by %s since %s, with a lease until %s",
		h.Describe(), since.Format(time.RFC3339), until.Format(time.RFC3339))
}

// ExtendProject moves the claim's lease on, also one that has expired if nobody
// took the project meanwhile. It is false when the claim is no longer ours.
func (s *Store) ExtendProject(ctx context.Context, c ProjectClaim, until time.Time) (ok bool, err error) {
	err = s.quickly(ctx, func(t tx) error {
		n, err := t.exec(`UPDATE job SET lease_until = ? WHERE kind = 'consolidate' AND key = ? AND owner = ? AND status = 'running'
			AND (SELECT fence FROM project WHERE id = job.key) = ?`, millis(until), c.ProjectID, c.Token, c.Fence)
		ok = n == 1
		return err
	})
	return ok && err == nil, s.explain(err, "extending the lease on project %s", c.ProjectID)
}

// held is an error of code memoir.CodeLeaseLost unless the claim is still ours, and
// its lease has not expired if it must not have.
func (s *Store) held(t tx, c ProjectClaim, unexpired bool) error {
	var owner string
	var until, fence int64
	err := t.get(`SELECT j.owner, j.lease_until, p.fence FROM job j JOIN project p ON p.id = j.key
		WHERE j.kind = 'consolidate' AND j.key = ? AND j.status = 'running'`, []any{c.ProjectID}, &owner, &until, &fence)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case err != nil, c.Token == "", owner != c.Token, fence != c.Fence:
		return lost("project " + c.ProjectID)
	case unexpired && until <= millis(s.ticks()):
		return memoir.Errorf(memoir.CodeLeaseLost, "a later run does it again",
			"the lease on project %s ended at %s", c.ProjectID, moment(until).Format(time.RFC3339))
	}
	return nil
}

// FinishProjectUnchanged ends a claim for which there was nothing to publish: what
// it was due for counts as consumed.
func (s *Store) FinishProjectUnchanged(ctx context.Context, c ProjectClaim) error {
	err := s.quickly(ctx, func(t tx) error {
		if err := s.held(t, c, false); err != nil {
			return err
		}
		return s.finishProject(t, c)
	})
	return s.explain(err, "finishing project %s", c.ProjectID)
}

func (s *Store) finishProject(t tx, c ProjectClaim) error {
	if c.Seq == 0 { // nothing of what it is due for was done: its model is not asked sooner
		return s.giveBackProject(t, c)
	}
	if _, err := t.exec(`UPDATE project SET consumed_seq = max(consumed_seq, ?) WHERE id = ?`, c.Seq, c.ProjectID); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE job SET status = 'done', owner = '', holder = '', lease_until = 0, attempts = 0, crashes = 0,
			next_attempt_at = 0, last_error = '', done_version = input_version, finished_at = ?
		WHERE kind = 'consolidate' AND key = ?`, millis(s.now()), c.ProjectID)
	return err
}

// FailProject ends a claim without a result, as FailClaim does for a session. The
// project stays due. Neither new changes nor Enqueue shorten the delay.
func (s *Store) FailProject(ctx context.Context, c ProjectClaim, f Failure, p Policy) error {
	err := s.write(ctx, s.handleFor(f.Usage), func(t tx) error {
		if err := s.fail(t, kindConsolidate, c.ProjectID, c.Token, f, p); err != nil {
			return err
		}
		return s.addLedger(t, LedgerEntry{Work: c.Token, At: s.now(), Run: f.Run, Phase: kindConsolidate, ProjectID: c.ProjectID,
			Model: f.Model, Usage: f.Usage, InputBytes: f.InputBytes, Duration: f.Duration, Outcome: f.outcome()})
	})
	return s.explain(err, "recording failure of project %s", c.ProjectID)
}

// GiveBackProject returns a claim that is still ours without counting an attempt. A
// project that had to wait goes on waiting, one that failed too often stays so, and one that
// is not due, as it was held for other work, is done.
// Like GiveBack, it goes on for a second when ctx has ended.
func (s *Store) GiveBackProject(ctx context.Context, c ProjectClaim) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	err := s.release(ctx, func(t tx) error { return s.giveBackProject(t, c) })
	return s.explain(err, "giving back project %s", c.ProjectID)
}

func (s *Store) giveBackProject(t tx, c ProjectClaim) error {
	_, err := t.exec(`UPDATE job SET owner = '', holder = '', lease_until = 0,
			status = CASE WHEN errand = 2 THEN 'dead' WHEN next_attempt_at > ?1 THEN 'error'
				WHEN EXISTS (SELECT 1 FROM project p WHERE p.id = job.key AND NOT `+isDue+`) THEN 'done' ELSE 'pending' END
		WHERE kind = 'consolidate' AND key = ?2 AND owner = ?3 AND status = 'running'`, millis(s.now()), c.ProjectID, c.Token)
	return err
}

// MakeDue makes a project due for something that changed outside of the database.
func (s *Store) MakeDue(ctx context.Context, projectID string) error {
	err := s.durably(ctx, func(t tx) error {
		_, err := bump(t, projectID)
		return err
	})
	return s.explain(err, "making project due")
}

// Enqueue makes a project due whether or not anything changed, also when a
// consolidation that runs now ends later. One that was given up is tried again.
func (s *Store) Enqueue(ctx context.Context, projectID string) error {
	err := s.durably(ctx, func(t tx) error {
		n, err := t.exec(`UPDATE project SET change_seq = change_seq + 1, forced_seq = change_seq + 1 WHERE id = ?`, projectID)
		if err == nil && n == 0 {
			return memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them", "no project has the id %q", projectID)
		}
		return err
	})
	return s.explain(err, "enqueueing project")
}
