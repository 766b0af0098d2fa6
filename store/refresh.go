package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"memoir"
	"memoir/lease"
)

// RefreshReasons brings the reason of every session in the window up to date and
// counts them. Of the sessions that may be taken, those past w.Cap in the order
// of claims (newest first, then those that a process died over) are over_cap.
// When nothing changed, nothing is written.
func (s *Store) RefreshReasons(ctx context.Context, w Window) (map[memoir.Reason]int, error) {
	counts, changes, _, err := s.reasons(ctx, w)
	if err != nil {
		return nil, s.explain(err, "working out which sessions to take")
	}
	if len(changes) == 0 {
		return counts, nil
	}
	err = s.quickly(ctx, func(t tx) error {
		for _, c := range changes {
			// Another process may have gone on with a session since it was looked at.
			_, err := t.exec(`UPDATE session SET reason = ? WHERE key IN (SELECT value FROM json_each(?)) AND reason = ?`,
				string(c.to), jsonList(c.keys), string(c.from))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.explain(err, "recording which sessions to take")
	}
	return counts, nil
}

// Foresee works out what RefreshReasons would, and writes nothing: how many sessions
// would have each reason, and the keys of those that are eligible, in the order of
// claims. Sessions that a living process works on are not among them.
func (s *Store) Foresee(ctx context.Context, w Window) (counts map[memoir.Reason]int, eligible []string, err error) {
	counts, _, eligible, err = s.reasons(ctx, w)
	if err != nil {
		return nil, nil, s.explain(err, "working out which sessions to take")
	}
	return counts, eligible, nil
}

// reasonChange is one change of reason, and the sessions that it happens to.
type reasonChange struct {
	from, to memoir.Reason
	keys     []string
}

func (s *Store) reasons(ctx context.Context, w Window) (counts map[memoir.Reason]int, changes []reasonChange, eligible []string, err error) {
	clock := s.now()
	err = s.read(ctx, func(t tx) error {
		counts = map[memoir.Reason]int{}
		held, err := heldSessions(t, clock)
		if err != nil {
			return err
		}
		within, args := w.restriction()
		err = t.each(`SELECT s.reason, count(*) FROM session s WHERE 1`+within+` GROUP BY s.reason`, args,
			func(scan func(...any) error) error {
				var reason memoir.Reason
				var n int
				err := scan(&reason, &n)
				counts[reason] = n
				return err
			})
		if err != nil {
			return err
		}
		taken := 0
		decide := func(f facts, reason memoir.Reason) {
			if reason == memoir.ReasonEligible {
				if taken++; w.Cap > 0 && taken > w.Cap {
					reason = memoir.ReasonOverCap
				} else if !held[f.key] {
					eligible = append(eligible, f.key)
				}
			}
			if reason != f.reason {
				i := slices.IndexFunc(changes, func(c reasonChange) bool { return c.from == f.reason && c.to == reason })
				if i < 0 {
					i = len(changes)
					changes = append(changes, reasonChange{from: f.reason, to: reason})
				}
				changes[i].keys = append(changes[i].keys, f.key)
				counts[f.reason]--
				counts[reason]++
			}
		}
		var suspects []facts
		var f facts
		fields := f.fields()
		open, args := w.openIn()
		err = t.each(`SELECT `+factColumns+` FROM `+factTables+` WHERE `+open+` ORDER BY s.updated_at DESC, s.key`, args,
			func(scan func(...any) error) error {
				if err := scan(fields...); err != nil {
					return err
				}
				reason := w.reason(f, clock)
				if reason == memoir.ReasonEligible && f.suspect {
					suspects = append(suspects, f)
					return nil
				}
				decide(f, reason)
				return nil
			})
		for _, f := range suspects {
			decide(f, memoir.ReasonEligible)
		}
		return err
	})
	for reason, n := range counts {
		if n == 0 {
			delete(counts, reason)
		}
	}
	return counts, changes, eligible, err
}

// heldSessions are those that somebody works on, as far as is known.
func heldSessions(t tx, now time.Time) (map[string]bool, error) {
	held := map[string]bool{}
	err := t.each(`SELECT key, owner, holder, lease_until FROM job INDEXED BY job_running WHERE status = 'running' AND kind = 'extract'`, nil,
		func(scan func(...any) error) error {
			var key, holder string
			var l lease.Lease
			var until int64
			err := scan(&key, &l.Owner, &holder, &until)
			l.Holder, _ = lease.ParseHolder(holder)
			l.Until = moment(until)
			held[key] = !l.Free(now)
			return err
		})
	return held, err
}

// settle stores the reason that a session has whatever the window; one that
// depends on the window stays, or becomes provisionally what it is in the widest.
// Every change of what a reason depends on must call it.
func (s *Store) settle(t tx, key string) error {
	var f facts
	err := t.get(`SELECT `+factColumns+` FROM `+factTables+` WHERE s.key = ?`, []any{key}, f.fields()...)
	if err != nil {
		return err
	}
	reason := Window{}.reason(f, s.now())
	if reason == f.reason || reason == memoir.ReasonEligible && timely(f.reason) {
		return nil
	}
	_, err = t.exec(`UPDATE session SET reason = ? WHERE key = ?`, string(reason), key)
	return err
}

// timely reports whether a reason is one that the next RefreshReasons judges anew
// by time alone.
func timely(r memoir.Reason) bool {
	switch r {
	case memoir.ReasonActive, memoir.ReasonTooRecent, memoir.ReasonTooOld, memoir.ReasonOverCap, memoir.ReasonEligible:
		return true
	}
	return false
}

func jsonList(values []string) string {
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}
