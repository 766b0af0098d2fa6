package store

import (
	"context"
	"fmt"
	"time"

	"memoir"
	"memoir/lease"
)

// ClaimOptions says what to claim and for whom.
type ClaimOptions struct {
	Holder     lease.Holder
	Lease      time.Duration // how long claims last unless extended
	Limit      int           // how many to claim at most
	RunningCap int           // how many may run at once, of all processes; 0: any number
	Window     Window
	// Suspects claims sessions that a process died over, and only those; without
	// it, only others. They belong last in a run, one at a time.
	Suspects bool
}

// Claim is the right to extract one session, for as long as its token stands in
// the database.
type Claim struct {
	Session           memoir.Session
	Token             string
	Attempt           int // from 1: failures of this version, and this one
	Crashes           int
	InputVersion      string             // the session's version that is now extracted
	DoneHash          string             // content hash of what was last extracted; empty if nothing was
	DoneFilterVersion int                // of the filter that DoneHash was made with
	Prior             *memoir.Extraction // what is stored of an earlier version, nil if nothing
	StartedAt         time.Time          // by the store's clock
	LeaseUntil        time.Time
}

func (c Claim) job() job { return job{kindExtract, c.Session.Key(), c.Token} }

// ClaimSessions claims sessions that are eligible in the window, the latest
// first. Judging them, the running cap and the claims are one transaction. Jobs
// whose holder is dead or whose lease has expired are set free on the way, with a
// crash counted. Fewer claims than the limit mean that there are no more, or that
// the cap is reached; none is not an error.
func (s *Store) ClaimSessions(ctx context.Context, o ClaimOptions) ([]Claim, error) {
	var claims []Claim
	err := s.quickly(ctx, func(t tx) error {
		claims = nil
		running, err := s.takeOver(t, kindExtract)
		if err != nil {
			return err
		}
		limit := o.Limit
		if o.RunningCap > 0 {
			limit = min(limit, o.RunningCap-running)
		}
		if limit <= 0 {
			return nil
		}
		candidates, err := o.candidates(t, s.now(), limit)
		if err != nil {
			return err
		}
		for _, c := range candidates {
			claim, err := s.claimSession(t, c, o)
			if err != nil {
				return fmt.Errorf("session %s: %w", c.key, err)
			}
			claims = append(claims, claim)
		}
		return nil
	})
	return claims, s.explain(err, "claiming sessions")
}

func (s *Store) claimSession(t tx, f facts, o ClaimOptions) (Claim, error) {
	found, err := selectSessions(t, Filter{Keys: []string{f.key}})
	if err != nil {
		return Claim{}, err
	}
	c := Claim{Session: found[0], Token: lease.NewToken(), InputVersion: f.version}
	g, err := s.claimJob(t, c.job(), terms{holder: o.Holder, lasts: o.Lease, version: f.version})
	if err != nil {
		return Claim{}, err
	}
	c.Attempt, c.Crashes, c.StartedAt, c.LeaseUntil = g.attempt, g.crashes, g.started, g.until
	c.DoneHash, c.DoneFilterVersion = g.doneHash, g.doneFilter
	c.Prior, err = selectExtraction(t, f.key)
	return c, err
}

// GiveBack returns claims that are still ours without counting an attempt. It is
// for work that was interrupted: it goes on when ctx has ended, for a second at most.
func (s *Store) GiveBack(ctx context.Context, claims []Claim) error {
	if len(claims) == 0 {
		return nil
	}
	var jobs []job
	for _, c := range claims {
		jobs = append(jobs, c.job())
	}
	return s.explain(s.release(ctx, jobs...), "giving back claims")
}

// MarkUnchanged finishes a claim whose session turned out to hold, for all that its
// files changed, the content that was extracted already; hash is its content hash,
// skipped what its reader did not understand this time.
func (s *Store) MarkUnchanged(ctx context.Context, c Claim, hash string, skipped []Skipped) error {
	key := c.Session.Key()
	err := s.quickly(ctx, func(t tx) error {
		if err := c.job().held(t); err != nil {
			return err
		}
		if err := setSkipped(t, key, skipped); err != nil {
			return err
		}
		return s.finishSession(t, c, hash, c.DoneFilterVersion)
	})
	return s.explain(err, "marking session %s as unchanged", key)
}

func (s *Store) finishSession(t tx, c Claim, hash string, filter int) error {
	if err := s.finish(t, c.job(), c.InputVersion, hash, filter); err != nil {
		return err
	}
	return s.settle(t, c.Session.Key())
}

// LeaveUnread gives a claim back whose file the system does not let be read; no attempt
// is counted. The session is unreadable for that reason until a scan can read it: the
// file at path, or each of the session's where it has none there, gets a time of change
// that no file has, so that the next scan looks at it. The error has the code
// memoir.CodeLeaseLost if the claim is no longer ours.
func (s *Store) LeaveUnread(ctx context.Context, c Claim, path, reason string) error {
	key := c.Session.Key()
	err := s.quickly(ctx, func(t tx) error {
		if err := c.job().held(t); err != nil {
			return err
		}
		if err := s.giveBack(t, c.job()); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE file SET mtime_ns = 0, error = ?1 WHERE session_key = ?2
			AND (path = ?3 OR NOT EXISTS (SELECT 1 FROM file WHERE session_key = ?2 AND path = ?3))`, reason, key, path)
		if err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE session SET error = ? WHERE key = ?`, reason, key); err != nil {
			return err
		}
		return s.settle(t, key)
	})
	return s.explain(err, "leaving session %s unread", key)
}

// Outstanding counts the sessions of a project that other processes than self are
// extracting now.
func (s *Store) Outstanding(ctx context.Context, projectID string, self lease.Holder) (int, error) {
	return fetch(ctx, s, func(t tx) (n int, err error) {
		jobs, err := runningJobs(t, kindExtract)
		if err != nil {
			return 0, err
		}
		var others []string
		for _, j := range jobs {
			if j.Holder != self && !j.Free(s.ticks()) {
				others = append(others, j.key)
			}
		}
		err = t.get(`SELECT count(*) FROM session WHERE project_id = ? AND key IN (SELECT value FROM json_each(?))`,
			[]any{projectID, jsonList(others)}, &n)
		return n, err
	}, "counting sessions that others extract")
}

// Working returns an error of memoir.CodeBusy while another process holds work:
// it may have read texts by earlier rules. What a process that is gone held is free.
func (s *Store) Working(ctx context.Context) error {
	err := s.quickly(ctx, func(t tx) error {
		for _, kind := range []string{kindExtract, kindConsolidate} {
			running, err := s.takeOver(t, kind)
			if err != nil {
				return err
			}
			if running > 0 {
				return memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait",
					"another process is at work: %d jobs of kind %s are running", running, kind)
			}
		}
		return nil
	})
	return s.explain(err, "looking for work under way")
}
