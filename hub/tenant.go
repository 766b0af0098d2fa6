package hub

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir/team/wire"
)

// caller is whose token a request has. Its epoch is the database's.
type caller struct {
	organisation, member, machine int64
	expires                       time.Time
	epoch                         string
	live, revoked, forgotten      bool // forgotten: seen long ago
}

// hashOf returns what is stored of a token or code.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// asMember runs a transaction for whom a token belongs to, in one round trip: all queries are sent at once with a
// single sync, which makes them one transaction. It needs neither prepared statements nor state of a session, so it
// works behind PgBouncer. Each query also joins callers by itself ($1 is the hash of the token), so that neither wall
// leans on the other. An unknown, revoked or expired token is a refusal, and then the queries found nothing.
//
// With hold, revoking the token waits for the transaction.
func (h *Hub) asMember(
	ctx context.Context, token string, hold bool, queue func(b *pgx.Batch, hash []byte),
) (caller, error) {
	hash := hashOf(token)
	b := &pgx.Batch{}
	var c caller
	known := false
	b.Queue(`SELECT organisation, member, machine, expires, live, revoked, forgotten, epoch FROM memoir.enter($1, $2)`,
		hash, hold).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			known = true
			if err := rows.Scan(&c.organisation, &c.member, &c.machine, &c.expires, &c.live, &c.revoked, &c.forgotten,
				&c.epoch); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if queue != nil {
		queue(b, hash)
	}
	err := h.pool.SendBatch(ctx, b).Close()
	switch refused := (*refusal)(nil); {
	case err != nil && !errors.As(err, &refused):
		return c, err
	case !known:
		return c, refuse(401, wire.CodeUnauthorised, "this token is unknown", "")
	case c.revoked:
		return c, refuse(401, wire.CodeRevoked, "this machine's token is revoked", "ask for a new code to join with")
	case !c.live:
		return c, refuse(401, wire.CodeUnauthorised, "this machine's token has expired", "ask for a new code to join with")
	case c.forgotten:
		if err := h.touch(ctx, c, hash); err != nil {
			return c, err
		}
	}
	return c, err
}

// touch notes that a machine was seen.
func (h *Hub) touch(ctx context.Context, c caller, hash []byte) error {
	b := &pgx.Batch{}
	c.queue(b)
	b.Queue(`UPDATE memoir.token SET seen = now() WHERE hash = $1 AND organisation = $2`, hash, c.organisation)
	return h.pool.SendBatch(ctx, b).Close()
}

// queue sets whose transaction it is.
func (c caller) queue(b *pgx.Batch) {
	if c.live {
		b.Queue(`SELECT set_config('memoir.organisation', $1::bigint::text, true),
			set_config('memoir.member', $2::bigint::text, true)`, c.organisation, c.member)
	}
}

// callers is the first part of each query of a member: nobody, or whom the token $1 belongs to.
const callers = `WITH caller AS (
		SELECT id AS machine, organisation, member FROM memoir.token WHERE hash = $1 AND revoked IS NULL AND expires > now()
	)`
