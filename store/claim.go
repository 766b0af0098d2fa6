package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"memoir"
	"memoir/lease"
)

// The kinds of jobs.
const (
	kindExtract     = "extract"
	kindConsolidate = "consolidate"
)

// ClaimOptions says what to claim and for whom.
type ClaimOptions struct {
	Holder     lease.Holder
	Lease      time.Duration // how long claims last unless extended
	Limit      int           // how many to claim at most
	RunningCap int           // how many may run at once, of all processes; 0: any number
	Window     Window
	// Largest takes the largest sessions first instead of the newest: for a run that
	// takes all there are, which ends sooner when no large one is left for last.
	Largest bool
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
	PriorMarks        []memoir.Mark      // how far the session was read for it
	StartedAt         time.Time          // by the store's clock
	LeaseUntil        time.Time
}

// ClaimSessions claims sessions that are eligible in the window, the latest
// first. Judging them, the running cap and the claims are one transaction. Jobs
// whose holder is dead or whose lease has expired are set free on the way, with a
// crash counted. Fewer claims than the limit mean that there are no more, or that
// the cap is reached; none is not an error.
func (s *Store) ClaimSessions(ctx context.Context, o ClaimOptions) ([]Claim, error) {
	var claims []Claim
	err := s.quickly(ctx, func(t tx) error {
		claims = nil
		now := s.now()
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
		keys, err := candidates(t, o, now, limit)
		if err != nil {
			return err
		}
		for _, key := range keys {
			claim, err := s.claimSession(t, key, o, now)
			if err != nil {
				return fmt.Errorf("session %s: %w", key, err)
			}
			claims = append(claims, claim)
		}
		return nil
	})
	if err != nil {
		return nil, s.explain(err, "claiming sessions")
	}
	return claims, nil
}

// candidates returns the keys of the sessions to claim, in order. The times in the
// query only spare rows; Window.reason decides.
func candidates(t tx, o ClaimOptions, clock time.Time, limit int) ([]string, error) {
	w := o.Window
	now := w.Now
	if now.IsZero() {
		now = clock
	}
	oldest, latest := int64(math.MinInt64), int64(math.MaxInt64)
	if w.MaxAge > 0 {
		oldest = millis(now.Add(-w.MaxAge))
	}
	if idle := max(w.MinIdle, w.ActiveFor); idle > 0 {
		latest = millis(now.Add(-idle))
	}
	from, order := factTables, `s.updated_at DESC, s.key`
	if o.Largest {
		order = `s.bytes DESC, ` + order
	}
	where := ` AND coalesce(j.crashes, 0) = 0`
	if o.Suspects {
		from = `job j INDEXED BY job_suspect JOIN session s ON s.key = j.key LEFT JOIN mark m ON m.session_key = s.key`
		where = ` AND j.kind = 'extract' AND j.crashes > 0`
		order = `j.crashes, ` + order
	}
	open, args := w.openIn()
	args = append(args, oldest, latest)
	var keys []string
	var f facts
	fields := f.fields()
	err := t.each(`SELECT `+factColumns+` FROM `+from+` WHERE `+open+` AND s.updated_at BETWEEN ? AND ?
			AND coalesce(j.status, '') <> 'running'`+where+` ORDER BY `+order, args,
		func(scan func(...any) error) error {
			if err := scan(fields...); err != nil {
				return err
			}
			if w.reason(f, clock) != memoir.ReasonEligible {
				return nil
			}
			if keys = append(keys, f.key); len(keys) == limit {
				return errStop
			}
			return nil
		})
	return keys, err
}

func (s *Store) claimSession(t tx, key string, o ClaimOptions, now time.Time) (Claim, error) {
	c := Claim{Token: lease.NewToken(), StartedAt: moment(millis(now)), LeaseUntil: moment(millis(s.ticks().Add(o.Lease)))}
	var err error
	err = t.each(`SELECT `+sessionColumns+`, s.version FROM session s WHERE s.key = ?`, []any{key}, func(scan func(...any) error) error {
		c.Session, err = scanSession(scan, &c.InputVersion)
		return err
	})
	if err != nil {
		return c, err
	}
	err = t.each(`SELECT path, size, mtime_ns, inode FROM file WHERE session_key = ? AND position >= 0 ORDER BY position`, []any{key},
		func(scan func(...any) error) error {
			f, err := scanFile(scan)
			c.Session.Files = append(c.Session.Files, f)
			return err
		})
	if err != nil {
		return c, err
	}
	// A version that was not tried before has its attempts before it; that a process
	// died over the session is remembered all the same.
	err = t.get(`INSERT INTO job (kind, key, status, owner, holder, lease_until, input_version, started_at)
		VALUES ('extract', ?1, 'running', ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (kind, key) DO UPDATE SET status = 'running', owner = ?2, holder = ?3, lease_until = ?4, started_at = ?6,
			attempts = CASE WHEN input_version = ?5 THEN attempts ELSE 0 END,
			crashes = CASE WHEN input_version = ?5 THEN crashes ELSE min(crashes, 1) END,
			input_version = ?5
		RETURNING attempts + 1, crashes, done_hash, filter_version`,
		[]any{key, c.Token, o.Holder.String(), millis(c.LeaseUntil), c.InputVersion, millis(now)},
		&c.Attempt, &c.Crashes, &c.DoneHash, &c.DoneFilterVersion)
	if err != nil {
		return c, err
	}
	if c.Prior, err = selectExtraction(t, key); err != nil || c.Prior == nil {
		return c, err
	}
	c.PriorMarks, err = selectMarks(t, key)
	return c, err
}
