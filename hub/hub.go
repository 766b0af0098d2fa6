// Package hub is a team's server: it keeps the statements and edits that machines push, and answers pulls, over HTTP
// and on PostgreSQL 15 or newer. Its workers make memories of them. It keeps no state of its own, so that any number of
// hubs may serve one database. What a machine and a hub send each other is in team/wire.
//
// Read migration/003.sql first (the tables and their walls), then tenant.go (a transaction of a member), push.go,
// pull.go, join.go (tokens), grant.go (what admins do), http.go (addresses and refusals) and admin.go (what operators
// do). Of workers, read job.go (the queue), consolidate.go and withdraw.go (generations), spend.go (a model and its
// limits) and archive.go (what readers get). page.go has pages for operators.
package hub

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"memoir"
	"memoir/secrets"
)

// Hub is a database of teams. Its methods are safe for concurrent use.
type Hub struct {
	pool    *pgxpool.Pool
	scanner *secrets.Scanner
	log     *slog.Logger
	metrics *metrics
	audited counts
	pushes  counts
	rooms   sync.Map     // of *semaphore.Weighted, by member: for the bytes of sessions
	full    atomic.Int64 // when PostgreSQL has refused a write, in Unix seconds; 0: none since the last push
	proxied bool

	jobs     *jobs // to queue them
	debounce time.Duration
}

// Options are the settings of a Hub.
type Options struct {
	Database string        // a URL or DSN of PostgreSQL, also behind PgBouncer in transaction mode
	Log      *slog.Logger  // nil: nothing is logged
	Proxied  bool          // a proxy is in front: it says who calls, and whether they came by https
	Debounce time.Duration // a project's rest after a push, before it is consolidated
}

// Open returns a hub whose connections are made when they are needed. Close ends them.
func Open(ctx context.Context, o Options) (*Hub, error) {
	config, err := pgxpool.ParseConfig(o.Database)
	if err != nil {
		// pgx's error may quote the URL with its password.
		return nil, memoir.Errorf(memoir.CodeUsage, "postgres://ROLE:PASSWORD@HOST/DATABASE", "the database's URL is invalid")
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.StatementCacheCapacity, config.ConnConfig.DescriptionCacheCapacity = 0, 0
	config.ConnConfig.ConnectTimeout = 10 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, asError(err)
	}
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{pool: pool, scanner: scanner, log: o.Log, metrics: newMetrics(pool, o.Log), proxied: o.Proxied,
		audited: counts{lasts: time.Minute}, debounce: o.Debounce}
	return h, h.openQueue()
}

// Close waits for transactions and closes the connections.
func (h *Hub) Close() { h.pool.Close() }

// asError turns an error of the database into one for operators. It has PostgreSQL's message without the detail, which
// quotes values.
func asError(err error) error {
	if err == nil || memoir.CodeOf(err) != memoir.CodeInternal {
		return err
	}
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return memoir.Errorf(memoir.CodeStorage, hints[failed.Code], "PostgreSQL: %s (%s)", failed.Message, failed.Code)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return memoir.Errorf(memoir.CodeStorage, "is PostgreSQL running there?", "cannot connect to the database")
	}
	return err
}

// orNone returns an error, or none in its place if it says that a query has no row.
func orNone(err, none error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return none
	}
	return err
}

// hints are what operators can do about errors of PostgreSQL, by their codes.
var hints = map[string]string{
	"3F000": "run `memoir-hub migrate` first",
	"42P01": "run `memoir-hub migrate` first",
	"42883": "run `memoir-hub migrate` first",
	"42501": "run this command as the role that owns the tables; `memoir-hub migrate` grants what serving needs",
	"53100": "the database's disk is full",
}
