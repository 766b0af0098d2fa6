package hub

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Table is a list for operators. A column is named as the member of its JSON.
type Table struct {
	Columns []string
	Rows    [][]any
}

// A row is a row of a table by its columns.
type row = map[string]any

// Objects returns the rows by their columns.
func (t Table) Objects() []map[string]any {
	out := make([]row, len(t.Rows))
	for i, values := range t.Rows {
		out[i] = row{}
		for j, value := range values {
			out[i][t.Columns[j]] = value
		}
	}
	return out
}

// table reads in a transaction that cannot write.
func (h *Hub) table(ctx context.Context, sql string, args ...any) (t Table, err error) {
	err = pgx.BeginTxFunc(ctx, h.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, sql, args...) // rows have its error, too
		t.Rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
		for _, field := range rows.FieldDescriptions() {
			t.Columns = append(t.Columns, field.Name)
		}
		return err
	})
	return t, asError(err)
}

// table is that of the organisation, the first argument of the query.
func (a Admin) table(ctx context.Context, sql string, args ...any) (Table, error) {
	org, err := a.organisation(ctx, a.hub.pool)
	if err != nil {
		return Table{}, err
	}
	return a.hub.table(ctx, sql, append([]any{org}, args...)...)
}

// Organisations lists all organisations.
func (h *Hub) Organisations(ctx context.Context) (Table, error) {
	return h.table(ctx, `SELECT name,
			(SELECT count(*) FROM memoir.member m WHERE m.organisation = o.id AND removed IS NULL) AS members,
			(SELECT count(*) FROM memoir.project p WHERE p.organisation = o.id AND alias_of IS NULL) AS projects,
			coalesce(nullif(model, ''), 'builtin') AS model, daily_tokens, daily_cost, review
		FROM memoir.organisation o ORDER BY name`)
}

// Members lists the members of the organisation. Their roles are "PROJECT ROLE", * for every project. When a machine of
// theirs was seen last is known to 10 minutes; its token counts from when it was made.
func (a Admin) Members(ctx context.Context) (Table, error) {
	return a.table(ctx, `SELECT name,
			ARRAY(SELECT coalesce(p.key, '*') || ' ' || a.role FROM memoir.access a
				LEFT JOIN memoir.project p ON p.id = a.project WHERE a.member = m.id ORDER BY p.key) AS roles,
			(SELECT count(*) FROM memoir.token t WHERE t.member = m.id AND revoked IS NULL AND expires > now()) AS machines,
			(SELECT max(seen) FROM memoir.token t WHERE t.member = m.id) AS seen, removed IS NOT NULL AS removed
		FROM memoir.member m WHERE organisation = $1 ORDER BY name`)
}

// Tokens lists the machines of the organisation.
func (a Admin) Tokens(ctx context.Context) (Table, error) {
	return a.table(ctx, `SELECT t.id, m.name AS member, machine, seen, expires, revoked IS NOT NULL AS revoked
		FROM memoir.token t JOIN memoir.member m ON m.id = t.member WHERE t.organisation = $1 ORDER BY m.name, t.id`)
}

// Projects lists the projects of the organisation.
func (a Admin) Projects(ctx context.Context) (Table, error) {
	return a.table(ctx, `SELECT key,
			ARRAY(SELECT k.key FROM memoir.project k WHERE k.alias_of = p.id ORDER BY k.key) AS aliases,
			(SELECT count(*) FROM memoir.statement s WHERE s.organisation = $1 AND s.project = p.id) AS statements,
			(SELECT count(*) FROM memoir.tombstone g WHERE g.organisation = $1 AND g.project = p.id) AS tombstones
		FROM memoir.project p WHERE organisation = $1 AND alias_of IS NULL ORDER BY key`)
}

// Status counts what the database holds, in one row; refused are requests of the last day, ending tokens that end in 14
// days or ended in the last 14, and waiting projects with a generation that waits.
func (h *Hub) Status(ctx context.Context) (Table, error) {
	return h.table(ctx, `SELECT (SELECT max(version) FROM memoir.migration) AS schema, epoch,
			(SELECT count(*) FROM memoir.organisation) AS organisations,
			(SELECT count(*) FROM memoir.member WHERE removed IS NULL) AS members,
			(SELECT count(*) FROM memoir.token WHERE revoked IS NULL AND expires > now()) AS machines,
			(SELECT count(*) FROM memoir.project WHERE alias_of IS NULL) AS projects,
			(SELECT count(*) FROM memoir.statement) AS statements, (SELECT count(*) FROM memoir.tombstone) AS tombstones,
			(SELECT count(*) FROM memoir.audit WHERE code <> '' AND at > now() - interval '1 day') AS refused,
			(SELECT count(*) FROM memoir.generation) AS generations,
			m.failed, m.ending, m.waiting, pg_database_size(current_database()) AS bytes
		FROM memoir.hub, (SELECT coalesce(sum(value) FILTER (WHERE labels[2] = 'failed'), 0)::bigint AS failed,
				coalesce(sum(value) FILTER (WHERE name = 'tokens_ending'), 0)::bigint AS ending,
				coalesce(sum(value) FILTER (WHERE name = 'generations_waiting'), 0)::bigint AS waiting
			FROM memoir.measures($1)) m`, maxFailures-1)
}
