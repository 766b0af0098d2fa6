package store

import (
	"context"
	"time"
)

// Oddities are rows that a clock which was wrong left behind.
type Oddities struct {
	Sessions int // that ended after now
	Waits    int // jobs that wait for longer than any delay or server asks for
	Ledger   int // calls made after now: they count for limits until their day is over
	Newest   time.Time
}

// Oddities looks for rows from the future: of sessions by skew or more; of waits, by
// longest or more.
func (s *Store) Oddities(ctx context.Context, skew, longest time.Duration) (o Oddities, err error) {
	now := s.now()
	err = s.read(ctx, func(t tx) error {
		var newest int64
		err := t.get(`SELECT (SELECT count(*) FROM session WHERE updated_at > ?1), (SELECT count(*) FROM job WHERE status = 'error' AND next_attempt_at > ?2),
				(SELECT count(*) FROM ledger WHERE at > ?1),
				(SELECT coalesce(max(updated_at), 0) FROM session)`,
			[]any{millis(now.Add(skew)), millis(now.Add(longest))}, &o.Sessions, &o.Waits, &o.Ledger, &newest)
		o.Newest = moment(newest)
		return err
	})
	return o, s.explain(err, "looking for times in the future")
}

// UnendedCalls counts calls that are in the ledger by their estimate for good, since
// the process that made them died.
func (s *Store) UnendedCalls(ctx context.Context) (n int, err error) {
	err = s.read(ctx, func(t tx) error {
		return t.get(`SELECT count(*) FROM ledger WHERE outcome = 'unfinished' AND call = 'begun'
			AND NOT EXISTS (SELECT 1 FROM job WHERE job.owner = ledger.work AND job.owner <> '')`, nil, &n)
	})
	return n, s.explain(err, "looking for calls that never ended")
}
