package hub

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// OrganisationRow is an organisation in a list.
type OrganisationRow struct {
	Name     string `json:"name"`
	Members  int    `json:"members"`
	Projects int    `json:"projects"`
}

// MemberRow is a member in a list. Roles are "PROJECT ROLE"; PROJECT is * for every project.
type MemberRow struct {
	Name     string   `json:"name"`
	Roles    []string `json:"roles"`
	Machines int      `json:"machines"`
	Removed  bool     `json:"removed"`
}

// TokenRow is a machine in a list.
type TokenRow struct {
	ID      int64     `json:"id"`
	Member  string    `json:"member"`
	Machine string    `json:"machine"`
	Seen    time.Time `json:"seen"`
	Expires time.Time `json:"expires"`
	Revoked bool      `json:"revoked"`
}

// ProjectRow is a project in a list.
type ProjectRow struct {
	Key        string   `json:"key"`
	Aliases    []string `json:"aliases"`
	Statements int      `json:"statements"`
	Tombstones int      `json:"tombstones"`
}

// Status is what `memoir-hub status` shows.
type Status struct {
	Schema        int    `json:"schema"`
	Needed        int    `json:"needed"`
	Epoch         string `json:"epoch"`
	Organisations int    `json:"organisations"`
	Members       int    `json:"members"`
	Machines      int    `json:"machines"`
	Projects      int    `json:"projects"`
	Statements    int    `json:"statements"`
	Tombstones    int    `json:"tombstones"`
	Refused       int    `json:"refused"` // of the last day
	Bytes         int64  `json:"bytes"`   // of the database
}

// rowsOf returns the rows of a query, each column in the field of its place.
func rowsOf[T any](ctx context.Context, h *Hub, sql string, args ...any) ([]T, error) {
	rows, err := h.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, asError(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	return found, asError(err)
}

// Organisations lists all organisations.
func (h *Hub) Organisations(ctx context.Context) ([]OrganisationRow, error) {
	return rowsOf[OrganisationRow](ctx, h, `SELECT name,
			(SELECT count(*) FROM memoir.member m WHERE m.organisation = o.id AND removed IS NULL),
			(SELECT count(*) FROM memoir.project p WHERE p.organisation = o.id AND alias_of IS NULL)
		FROM memoir.organisation o ORDER BY name`)
}

// Status counts what the database holds.
func (h *Hub) Status(ctx context.Context) (Status, error) {
	found, err := rowsOf[Status](ctx, h, `SELECT (SELECT max(version) FROM memoir.migration), $1::int, epoch,
			(SELECT count(*) FROM memoir.organisation),
			(SELECT count(*) FROM memoir.member WHERE removed IS NULL),
			(SELECT count(*) FROM memoir.token WHERE revoked IS NULL AND expires > now()),
			(SELECT count(*) FROM memoir.project WHERE alias_of IS NULL),
			(SELECT count(*) FROM memoir.statement), (SELECT count(*) FROM memoir.tombstone),
			(SELECT count(*) FROM memoir.audit WHERE code <> '' AND at > now() - interval '1 day'),
			pg_database_size(current_database())
		FROM memoir.hub`, SchemaVersion())
	if err != nil || len(found) == 0 {
		return Status{}, err
	}
	return found[0], nil
}

// Members lists the members of the organisation.
func (a Admin) Members(ctx context.Context) ([]MemberRow, error) {
	org, err := a.organisation(ctx, a.hub.pool)
	if err != nil {
		return nil, err
	}
	return rowsOf[MemberRow](ctx, a.hub, `SELECT name,
			ARRAY(SELECT coalesce(p.key, '*') || ' ' || a.role FROM memoir.access a
				LEFT JOIN memoir.project p ON p.id = a.project WHERE a.member = m.id ORDER BY p.key),
			(SELECT count(*) FROM memoir.token t WHERE t.member = m.id AND revoked IS NULL AND expires > now()),
			removed IS NOT NULL
		FROM memoir.member m WHERE organisation = $1 ORDER BY name`, org)
}

// Tokens lists the machines of the organisation, or of one member.
func (a Admin) Tokens(ctx context.Context, member string) ([]TokenRow, error) {
	org, err := a.organisation(ctx, a.hub.pool)
	if err != nil {
		return nil, err
	}
	return rowsOf[TokenRow](ctx, a.hub, `SELECT t.id, m.name, t.machine, t.seen, t.expires, t.revoked IS NOT NULL
		FROM memoir.token t JOIN memoir.member m ON m.id = t.member
		WHERE t.organisation = $1 AND $2 IN ('', m.name) ORDER BY m.name, t.id`, org, member)
}

// Projects lists the projects of the organisation.
func (a Admin) Projects(ctx context.Context) ([]ProjectRow, error) {
	org, err := a.organisation(ctx, a.hub.pool)
	if err != nil {
		return nil, err
	}
	return rowsOf[ProjectRow](ctx, a.hub, `SELECT key,
			ARRAY(SELECT k.key FROM memoir.project k WHERE k.alias_of = p.id ORDER BY k.key),
			(SELECT count(*) FROM memoir.statement s WHERE s.organisation = p.organisation AND s.project = p.id),
			(SELECT count(*) FROM memoir.tombstone g WHERE g.organisation = p.organisation AND g.project = p.id)
		FROM memoir.project p WHERE organisation = $1 AND alias_of IS NULL ORDER BY key`, org)
}
