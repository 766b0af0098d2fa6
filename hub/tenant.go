package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir/team/wire"
)

// caller is the machine whose token a request has.
type caller struct {
	machine       int64
	member        string // its id; empty if the token is not valid
	epoch         string // of the database
	expires       time.Time
	live, revoked bool
	newest        *int64 // the number of the last change of the project; nil: the member may not read it
}

// patience is how long a transaction may take, the wait for a connection included.
const patience = 30 * time.Second

// hashOf returns what is stored of a token or code.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// entering begins each transaction of a member: it has the columns of a caller.
const entering = `SELECT *, coalesce(current_setting('memoir.member', true), '') FROM memoir.enter($1, $2, $3)`

func (c *caller) columns() []any {
	return []any{&c.machine, &c.expires, &c.live, &c.revoked, &c.epoch, &c.newest, &c.member}
}

// callerOf returns whom a token belongs to; an unknown, revoked or expired one is a refusal. project is one to read, or
// nil.
func (h *Hub) callerOf(ctx context.Context, token string, project *string) (c caller, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	row := h.pool.QueryRow(ctx, entering, hashOf(token), false, project)
	if err = into(c.columns()...)(row); err == nil {
		err = c.refused()
	}
	return c, err
}

// asMember runs a transaction for whom a token belongs to, in one round trip: all queries are sent at once with a
// single sync, which makes them one transaction. It needs neither prepared statements nor state of a session, so it
// works behind PgBouncer. Each query also joins memoir.reach or callers by the hash of the token, so that neither wall
// leans on the other. Of a token that callerOf refuses, the queries found nothing.
func (h *Hub) asMember(ctx context.Context, token string, queue func(b *pgx.Batch, hash []byte)) (caller, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return asMemberIn(ctx, h.pool, token, queue)
}

// asMemberIn is asMember in a transaction, which goes on and which revoking the token waits for, or with a pool.
func asMemberIn(
	ctx context.Context, in querier, token string, queue func(b *pgx.Batch, hash []byte),
) (c caller, err error) {
	hash := hashOf(token)
	_, hold := in.(pgx.Tx)
	b := &pgx.Batch{}
	b.Queue(entering, hash, hold, nil).QueryRow(into(c.columns()...))
	queue(b, hash)
	err = in.SendBatch(ctx, b).Close()
	if _, refused := errors.AsType[*refusal](err); err != nil && !refused {
		return c, err
	}
	return c, cmp.Or(c.refused(), err)
}

// askToken is the hint for who has no valid token any more.
const askToken = "ask for a new code to join with, or a new token"

// refused says why nothing is done for a caller; nil if the token is valid.
func (c caller) refused() error {
	switch {
	case c.machine == 0:
		return refuse(401, wire.CodeUnauthorised, "this token is unknown", "")
	case c.revoked:
		return refuse(401, wire.CodeRevoked, "this machine's token is revoked", askToken)
	case !c.live:
		return refuse(401, wire.CodeUnauthorised, "this machine's token has expired", askToken)
	}
	return nil
}

// into reads the row of a query, if there is one.
func into(to ...any) func(pgx.Row) error {
	return func(row pgx.Row) error { return orNone(row.Scan(to...), nil) }
}

// asWorker runs a worker's transaction on a project: memoir.work says what it may reach. A project that is gone, or is
// another key of one, is errGone.
func (h *Hub) asWorker(ctx context.Context, project int64, do func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		var org *int64
		err := tx.QueryRow(ctx, `SELECT memoir.work($1)`, project).Scan(&org)
		if err == nil && org == nil {
			err = errGone
		}
		if err != nil {
			return err
		}
		return do(tx)
	})
	if err != nil && ctx.Err() != nil {
		err = errors.Join(errSlow, err)
	}
	return err
}

var (
	errGone = errors.New("there is no such project")
	errSlow = errors.New("the database did not answer in time")
)

// callers is the first part of each query of a member: nobody, or whom the token $1 belongs to.
const callers = `WITH caller AS (
		SELECT id AS machine, organisation, member, shared FROM memoir.token
		WHERE hash = $1 AND revoked IS NULL AND expires > now()
	)`
