package hub

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir"
)

// first is the oldest migration. It makes the tables as the ones before it did, which are gone.
const first = 3

//go:embed migration/*.sql
var migrations embed.FS

// SchemaVersion returns the number of the newest migration.
func SchemaVersion() int {
	names, _ := fs.Glob(migrations, "migration/[0-9]*.sql")
	return first - 1 + len(names)
}

// Migrate applies the migrations that the database lacks, each in a transaction of its own, and grants serveRole what
// serving needs. It returns how many were applied. Several may run at once: each waits for the one before.
func (h *Hub) Migrate(ctx context.Context, serveRole string) (applied int, err error) {
	for {
		var n int
		var done bool
		err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) (err error) {
			n, done, err = h.migrateOnce(ctx, tx, serveRole)
			return err
		})
		if err != nil || done {
			return applied, asError(err)
		}
		applied += n
	}
}

// migrateOnce applies one migration, of ours or of the queue's tables, which does not count. If none is left, it
// grants, and done is true.
func (h *Hub) migrateOnce(ctx context.Context, tx pgx.Tx, serveRole string) (n int, done bool, err error) {
	if err := checkServeRole(ctx, tx, serveRole); err != nil {
		return 0, false, err
	}
	// The lock ends with the transaction, so that it works behind a pooler.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('memoir.migration'));
		CREATE SCHEMA IF NOT EXISTS memoir;
		CREATE TABLE IF NOT EXISTS memoir.migration (
			version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())`); err != nil {
		return 0, false, err
	}
	if ended, err := h.migrateJobs(ctx, tx); err != nil || !ended {
		return 0, false, err
	}
	version, err := schemaVersion(ctx, tx)
	if err != nil {
		return 0, false, err
	}
	if version >= SchemaVersion() {
		return 0, true, apply(ctx, tx, "grants", serveRole)
	}
	if 0 < version && version < first {
		return 0, false, memoir.Errorf(memoir.CodeConfig, "migrate it first with the last checkout that has "+
			"hub/migration/002.sql", "the schema has version %d, and this program begins with %d", version, first)
	}
	next := version + 1
	if version == 0 {
		next = first
	}
	if err = apply(ctx, tx, fmt.Sprintf("%03d", next), serveRole); err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO memoir.migration (version) VALUES ($1)`, next)
	}
	return 1, false, err
}

func apply(ctx context.Context, tx pgx.Tx, name, serveRole string) error {
	text, err := migrations.ReadFile("migration/" + name + ".sql")
	if err == nil {
		_, err = tx.Exec(ctx, strings.ReplaceAll(string(text), "$ROLE", pgx.Identifier{serveRole}.Sanitize()))
	}
	if err != nil {
		return fmt.Errorf("migration %s: %w", name, err)
	}
	return nil
}

func schemaVersion(ctx context.Context, q querier) (version int, err error) {
	err = q.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM memoir.migration`).Scan(&version)
	return version, err
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// checkServeRole returns an error unless the role exists, is not the one that migrates, and the database keeps texts as
// UTF-8.
func checkServeRole(ctx context.Context, tx pgx.Tx, serveRole string) error {
	var exists, same bool
	var version int
	var encoding string
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1), current_user = $1,
		current_setting('server_version_num')::int, current_setting('server_encoding')`, serveRole).
		Scan(&exists, &same, &version, &encoding)
	switch {
	case err != nil:
		return err
	case !exists:
		return memoir.Errorf(memoir.CodeUsage, "CREATE ROLE "+pgx.Identifier{serveRole}.Sanitize()+" LOGIN PASSWORD '…'",
			"there is no role %q in this cluster", serveRole)
	case same:
		return memoir.Errorf(memoir.CodeUsage, "use two roles: one that owns the tables, and one that serves",
			"%q is the role that migrates, and must not serve", serveRole)
	case version < 150000 || encoding != "UTF8":
		return memoir.Errorf(memoir.CodeConfig, "",
			"the hub needs PostgreSQL 15 or newer with the encoding UTF8, not %d and %s", version/10000, encoding)
	}
	return nil
}

// CheckServing returns an error if the role of this connection must not serve, since row-level security does not bind
// it, or if the schema is older than this program. A newer one is served: schema changes first add, and remove a
// release later.
func (h *Hub) CheckServing(ctx context.Context) error {
	var unbound, owner, open bool
	err := h.pool.QueryRow(ctx, `WITH ours AS (
			SELECT relowner, relrowsecurity FROM pg_class WHERE relnamespace = to_regnamespace('memoir') AND relkind = 'r')
		SELECT EXISTS (SELECT FROM pg_roles WHERE (rolsuper OR rolbypassrls) AND pg_has_role(current_user, oid, 'MEMBER')),
			EXISTS (SELECT FROM ours WHERE pg_has_role(current_user, relowner, 'MEMBER')),
			EXISTS (SELECT FROM ours WHERE NOT relrowsecurity)`).
		Scan(&unbound, &owner, &open)
	const hint = "serve with the role that `memoir-hub migrate --serve-role` was given"
	switch {
	case err != nil:
		return asError(err)
	case unbound:
		return memoir.Errorf(memoir.CodeConfig, hint, "this role is, or may become, a superuser or one with BYPASSRLS")
	case owner:
		return memoir.Errorf(memoir.CodeConfig, hint, "this role owns the hub's tables")
	case open:
		return memoir.Errorf(memoir.CodeConfig, "run `memoir-hub migrate`", "a table of the hub has no row-level security")
	}
	return h.checkSchema(ctx)
}

func (h *Hub) checkSchema(ctx context.Context) error {
	version, err := schemaVersion(ctx, h.pool)
	if err != nil {
		return asError(err)
	}
	if version < SchemaVersion() {
		return memoir.Errorf(memoir.CodeConfig, "run `memoir-hub migrate` first",
			"the schema has version %d, and this program needs %d", version, SchemaVersion())
	}
	return nil
}
