package store

import (
	"context"
	"database/sql"
	"errors"
)

// PostponeClaim ends a claim that failed because its model's server did not serve:
// the session is tried again after a delay, and no attempt is counted. If it failed in
// some way before, and the model extracted from another session since, it is likelier
// that the session is to blame: then this is FailClaim, and counted is true. The
// error is as of FailClaim.
func (s *Store) PostponeClaim(ctx context.Context, c Claim, f Failure, p Policy) (counted bool, err error) {
	key := c.Session.Key()
	err = s.write(ctx, s.handleFor(f.Usage), func(t tx) error {
		counted, err = s.postpone(t, kindExtract, key, c.Token, f, p,
			`EXISTS (SELECT 1 FROM extraction WHERE model = ?3 AND session_key <> j.key AND stored_at > j.finished_at)`)
		if err != nil {
			return err
		}
		return s.enterFailure(t, c, f)
	})
	return counted, s.explain(err, "postponing session %s", key)
}

// PostponeProject is PostponeClaim for a consolidation.
func (s *Store) PostponeProject(ctx context.Context, c ProjectClaim, f Failure, p Policy) (counted bool, err error) {
	err = s.write(ctx, s.handleFor(f.Usage), func(t tx) error {
		counted, err = s.postpone(t, kindConsolidate, c.ProjectID, c.Token, f, p,
			`EXISTS (SELECT 1 FROM job o WHERE o.kind = j.kind AND o.key <> j.key AND o.status = 'done' AND o.finished_at > j.finished_at)
				OR EXISTS (SELECT 1 FROM extraction WHERE model = ?3 AND stored_at > j.finished_at)`)
		if err != nil {
			return err
		}
		return s.addLedger(t, LedgerEntry{Work: c.Token, At: s.now(), Run: f.Run, Phase: kindConsolidate, ProjectID: c.ProjectID,
			Model: f.Model, Usage: f.Usage, InputBytes: f.InputBytes, Duration: f.Duration, Outcome: f.outcome()})
	})
	return counted, s.explain(err, "postponing project %s", c.ProjectID)
}

// postpone ends a claim; served is the SQL condition that the model served others
// since the job j last failed.
func (s *Store) postpone(t tx, kind, key, token string, f Failure, p Policy, served string) (counted bool, err error) {
	err = t.get(`SELECT j.next_attempt_at > 0 AND (`+served+`) FROM job j
		WHERE j.kind = ?1 AND j.key = ?2 AND j.owner = ?4 AND j.owner <> '' AND j.status = 'running'`, []any{kind, key, f.Model, token}, &counted)
	if errors.Is(err, sql.ErrNoRows) {
		return false, lost(kind + " " + key)
	}
	if err != nil {
		return false, err
	}
	if counted {
		return true, s.fail(t, kind, key, token, f, p)
	}
	delay := p.Base
	if f.PostponedFor > 0 {
		delay = min(delay, f.PostponedFor)
	}
	now := s.now()
	_, err = t.exec(`UPDATE job SET status = 'error', owner = '', holder = '', lease_until = 0, crashes = 0,
			next_attempt_at = ?, last_error = ?, model = ?, finished_at = ? WHERE kind = ? AND key = ?`,
		millis(now.Add(max(delay, f.RetryAfter))), f.Message, f.Model, millis(now), kind, key)
	return false, err
}
