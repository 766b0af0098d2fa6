package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"memoir/lease"
)

// ExtendClaims moves the leases of running claims on, and returns the tokens that
// are no longer anyone's or another's. A claim whose lease has expired and that
// nobody took is extended like the others.
func (s *Store) ExtendClaims(ctx context.Context, tokens []string, until time.Time) (lost []string, err error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	err = s.quickly(ctx, func(t tx) error {
		held := map[string]bool{}
		err := t.each(`UPDATE job SET lease_until = ? WHERE owner <> '' AND owner IN (SELECT value FROM json_each(?)) AND status = 'running' RETURNING owner`,
			[]any{millis(until), jsonList(tokens)}, func(scan func(...any) error) error {
				var owner string
				err := scan(&owner)
				held[owner] = true
				return err
			})
		lost = nil
		for _, token := range tokens {
			if !held[token] {
				lost = append(lost, token)
			}
		}
		return err
	})
	return lost, s.explain(err, "extending leases")
}

// giveBackWithin bounds the wait of those who are asked to stop at once.
const giveBackWithin = time.Second

// GiveBack returns claims that are still ours without counting an attempt. It is
// for work that was interrupted: it goes on when ctx has ended, for a second at most.
func (s *Store) GiveBack(ctx context.Context, claims []Claim) error {
	if len(claims) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	err := s.release(ctx, func(t tx) error {
		for _, c := range claims {
			if err := giveBack(t, kindExtract, c.Session.Key(), c.Token); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "giving back claims")
}

func giveBack(t tx, kind, key, token string) error {
	_, err := t.exec(`UPDATE job SET status = 'pending', owner = '', holder = '', lease_until = 0
		WHERE kind = ? AND key = ? AND owner = ? AND status = 'running'`, kind, key, token)
	return err
}

// holds is nil if a claim on a session still is the one that the job runs under;
// else the error has the code memoir.CodeLeaseLost.
func (c Claim) holds(t tx) error {
	key := c.Session.Key()
	var one int
	err := t.get(`SELECT 1 FROM job WHERE kind = ? AND key = ? AND owner = ? AND owner <> '' AND status = 'running'`,
		[]any{kindExtract, key, c.Token}, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return lost("session " + key)
	}
	return err
}

// Outstanding counts the sessions of a project that other processes than self are
// extracting now.
func (s *Store) Outstanding(ctx context.Context, projectID string, self lease.Holder) (int, error) {
	n := 0
	now := s.ticks()
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT j.owner, j.holder, j.lease_until FROM job j INDEXED BY job_running JOIN session s ON s.key = j.key
			WHERE j.kind = 'extract' AND j.status = 'running' AND s.project_id = ?`, []any{projectID},
			func(scan func(...any) error) error {
				var l lease.Lease
				var holder string
				var until int64
				if err := scan(&l.Owner, &holder, &until); err != nil {
					return err
				}
				l.Holder, _ = lease.ParseHolder(holder)
				l.Until = moment(until)
				if l.Holder != self && !l.Free(now) {
					n++
				}
				return nil
			})
	})
	return n, s.explain(err, "counting sessions that others extract")
}
