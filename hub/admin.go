package hub

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir"
	"memoir/team/wire"
)

// Admin is what operators do, as the role that owns the tables: row-level security does not bind it. Each change is a
// transaction with a row in the audit.
type Admin struct {
	hub *Hub
	org string // empty: the only one
}

// Admin returns what operators do in an organisation. An empty name is the only one.
func (h *Hub) Admin(organisation string) Admin { return Admin{h, organisation} }

// do runs a change of the organisation.
func (a Admin) do(ctx context.Context, action, detail string, change func(tx pgx.Tx, org int64) error) error {
	return asError(pgx.BeginFunc(ctx, a.hub.pool, func(tx pgx.Tx) error {
		org, err := a.organisation(ctx, tx)
		if err == nil {
			err = change(tx, org)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO memoir.audit (organisation, action, detail) VALUES ($1, $2, $3)`,
				org, action, detail)
		}
		return err
	}))
}

func (a Admin) organisation(ctx context.Context, q querier) (id int64, err error) {
	var n int
	err = q.QueryRow(ctx, `SELECT coalesce(min(id), 0), count(*) FROM memoir.organisation WHERE $1 IN ('', name)`, a.org).
		Scan(&id, &n)
	switch {
	case err != nil:
		return 0, asError(err)
	case n == 0 && a.org == "":
		return 0, memoir.Errorf(memoir.CodeNotFound, "`memoir-hub org add NAME` adds one", "there is no organisation")
	case n == 0:
		return 0, memoir.Errorf(memoir.CodeNotFound, "`memoir-hub org list` lists them", "there is no organisation %q", a.org)
	case n > 1:
		return 0, memoir.Errorf(memoir.CodeUsage, "pass --org NAME", "there are %d organisations", n)
	}
	return id, nil
}

// AddOrganisation adds an organisation of a new name.
func (h *Hub) AddOrganisation(ctx context.Context, name string) error {
	if err := wire.CheckName(name, wire.MaxMemberName); err != nil {
		return err
	}
	done, err := h.pool.Exec(ctx, `WITH added AS (
			INSERT INTO memoir.organisation (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id)
		INSERT INTO memoir.audit (organisation, action, detail) SELECT id, 'org add', $1 FROM added`, name)
	if err == nil && done.RowsAffected() == 0 {
		return memoir.Errorf(memoir.CodeUsage, "", "there is an organisation %q already", name)
	}
	return asError(err)
}

// AddMember adds a member with a role in the projects that are named, or in every project. With add it adds projects
// that are not there. It returns a one-time code for a machine.
func (a Admin) AddMember(
	ctx context.Context, name string, role wire.Role, projects []string, add bool,
) (code string, err error) {
	if err := wire.CheckName(name, wire.MaxMemberName); err != nil {
		return "", err
	}
	code = rand.Text()
	return code, a.do(ctx, "member add", name, func(tx pgx.Tx, org int64) error {
		rows, _ := tx.Query(ctx, `SELECT name FROM memoir.member WHERE organisation = $1 AND name <> $2`, org, name)
		others, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, other := range others {
			if memoir.Folded(wire.MemberName(other)) == memoir.Folded(wire.MemberName(name)) {
				err = memoir.Errorf(memoir.CodeUsage, "choose another name", "%q looks like the member %q", name, other)
			}
		}
		if err != nil {
			return err
		}
		var member int64
		err = orNone(tx.QueryRow(ctx, `INSERT INTO memoir.member (organisation, name) VALUES ($1, $2)
			ON CONFLICT (organisation, name) DO UPDATE SET removed = NULL WHERE member.removed IS NOT NULL
			RETURNING id`, org, name).Scan(&member), memoir.Errorf(memoir.CodeUsage,
			"`memoir-hub member code NAME` prints a code for another machine", "there is a member %q already", name))
		if len(projects) == 0 {
			projects = []string{wire.EveryProject}
		}
		for _, key := range projects {
			if err == nil {
				err = grant(ctx, tx, org, member, key, role, add)
			}
		}
		if err == nil {
			err = addCode(ctx, tx, org, member, code)
		}
		return err
	})
}

// NewCode returns another one-time code of a member.
func (a Admin) NewCode(ctx context.Context, name string) (code string, err error) {
	code = rand.Text()
	return code, a.member(ctx, "member code", name, "", func(tx pgx.Tx, org, member int64) error {
		return addCode(ctx, tx, org, member, code)
	})
}

// NewToken returns a token of a member for machines that cannot join, such as containers, and the id that revokes it.
// All of them are one machine, of which any may have been taken over, so it neither replaces nor revokes a token.
func (a Admin) NewToken(ctx context.Context, name string, life time.Duration) (id int64, token string, err error) {
	token = rand.Text()
	err = a.member(ctx, "token add", name, "", func(tx pgx.Tx, org, member int64) error {
		return tx.QueryRow(ctx, `INSERT INTO memoir.token (hash, organisation, member, machine, expires, shared)
			VALUES ($1, $2, $3, 'containers', now() + $4::interval, true) RETURNING id`, hashOf(token), org, member, life).
			Scan(&id)
	})
	return id, token, err
}

func addCode(ctx context.Context, tx pgx.Tx, org, member int64, code string) error {
	_, err := tx.Exec(ctx, `INSERT INTO memoir.code (hash, organisation, member, expires)
		VALUES ($1, $2, $3, now() + $4::interval)`, hashOf(code), org, member, codeLife)
	return err
}

// member runs a change of a member. One that is removed can be erased.
func (a Admin) member(
	ctx context.Context, action, name, detail string, change func(tx pgx.Tx, org, member int64) error,
) error {
	return a.do(ctx, action, strings.TrimSpace(name+" "+detail), func(tx pgx.Tx, org int64) error {
		var id int64
		err := orNone(tx.QueryRow(ctx, `SELECT id FROM memoir.member
			WHERE organisation = $1 AND name = $2 AND (removed IS NULL OR $3)`, org, name, action == "erase").Scan(&id),
			memoir.Errorf(memoir.CodeNotFound, "`memoir-hub member list` lists them", "there is no member %q", name))
		if err == nil {
			// Pushes of the member that have begun end first, and others wait.
			_, err = tx.Exec(ctx, `SELECT FROM memoir.token WHERE member = $1 FOR UPDATE`, id)
		}
		if err == nil {
			err = change(tx, org, id)
		}
		return err
	})
}

// Remove ends the tokens, codes and rights of a member. Statements stay.
func (a Admin) Remove(ctx context.Context, name string) error {
	return a.member(ctx, "member remove", name, "", func(tx pgx.Tx, _, member int64) error {
		_, err := tx.Exec(ctx, `SELECT memoir.remove($1)`, member)
		return err
	})
}

// Erase removes a member with the statements and edits. A tombstone, which is a hash, stays of each, so that other
// machines drop it and it does not come back. It returns how many were erased.
func (a Admin) Erase(ctx context.Context, name string) (erased int, err error) {
	err = a.member(ctx, "erase", name, "", func(tx pgx.Tx, org, member int64) error {
		if err := tx.QueryRow(ctx, `SELECT memoir.erase($1)`, member).Scan(&erased); err != nil {
			return err
		}
		return a.hub.queueDue(ctx, tx, org)
	})
	return erased, err
}

// Erased reports whether a member of a name was ever erased.
func (a Admin) Erased(ctx context.Context, name string) (erased bool, err error) {
	org, err := a.organisation(ctx, a.hub.pool)
	if err == nil {
		err = asError(a.hub.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM memoir.audit
			WHERE organisation = $1 AND action = 'erase' AND detail = $2)`, org, name).Scan(&erased))
	}
	return erased, err
}

// Grant gives a member a role in a project; the key * is every project. With add it adds a project that is not there.
func (a Admin) Grant(ctx context.Context, name, key string, role wire.Role, add bool) error {
	return a.member(ctx, "grant", name, key+" "+string(role), func(tx pgx.Tx, org, member int64) error {
		return grant(ctx, tx, org, member, key, role, add)
	})
}

func grant(ctx context.Context, tx pgx.Tx, org, member int64, key string, role wire.Role, add bool) error {
	if !slices.Contains(wire.Roles, role) {
		return memoir.Errorf(memoir.CodeUsage, "", "a role is reader, writer or admin, not %q", role)
	}
	var project *int64
	if key != wire.EveryProject {
		id, err := projectOf(ctx, tx, org, key, add)
		if err != nil {
			return err
		}
		project = &id
	}
	_, err := tx.Exec(ctx, `INSERT INTO memoir.access (organisation, member, project, role)
		VALUES ($1, $2, $3, $4::memoir.role) ON CONFLICT (member, project) DO UPDATE SET role = excluded.role`,
		org, member, project, string(role))
	return err
}

// projectOf returns the project of a key. With add, it creates it if there is none.
func projectOf(ctx context.Context, q querier, org int64, key string, add bool) (id int64, err error) {
	if err = wire.CheckProject(key); err == nil && add {
		_, err = q.Exec(ctx, `INSERT INTO memoir.project (organisation, key) VALUES ($1, $2)
			ON CONFLICT DO NOTHING`, org, key)
	}
	if err != nil {
		return 0, err
	}
	err = orNone(q.QueryRow(ctx, `SELECT coalesce(alias_of, id) FROM memoir.project
		WHERE organisation = $1 AND key = $2`, org, key).Scan(&id), memoir.Errorf(memoir.CodeNotFound,
		"`memoir-hub project list` lists them; `grant --new` and `member add --new` add one", "there is no project %q", key))
	return id, err
}

// Revoke takes a member's role in a project away; the key * is the role in every project.
func (a Admin) Revoke(ctx context.Context, name, key string) error {
	return a.member(ctx, "revoke", name, key, func(tx pgx.Tx, org, member int64) error {
		done, err := tx.Exec(ctx, `DELETE FROM memoir.access WHERE member = $1 AND CASE $3 WHEN '*' THEN project IS NULL
			ELSE project = (SELECT coalesce(alias_of, id) FROM memoir.project WHERE organisation = $2 AND key = $3) END`,
			member, org, key)
		if err == nil && done.RowsAffected() == 0 {
			return memoir.Errorf(memoir.CodeNotFound, "`memoir-hub member list` shows roles; one for every project is `*`",
				"%q has no role of its own there", name)
		}
		return err
	})
}

// RevokeToken ends the token of a machine by its id.
func (a Admin) RevokeToken(ctx context.Context, id int64) error {
	return a.do(ctx, "token revoke", "", func(tx pgx.Tx, org int64) error {
		done, err := tx.Exec(ctx, `UPDATE memoir.token SET revoked = now()
			WHERE organisation = $1 AND id = $2 AND revoked IS NULL`, org, id)
		if err == nil && done.RowsAffected() == 0 {
			return memoir.Errorf(memoir.CodeNotFound, "`memoir-hub token list` lists them", "no machine %d has a token", id)
		}
		return err
	})
}

// Alias makes key another key of a project. If machines have pushed under it already, what they pushed moves. Its
// numbers change, so a new epoch begins.
func (a Admin) Alias(ctx context.Context, of, key string) error {
	return a.do(ctx, "project alias", of+" "+key, func(tx pgx.Tx, org int64) error {
		// Pushes that have begun end first, and others wait: they must not write to a project that becomes an alias.
		_, err := tx.Exec(ctx, `LOCK TABLE memoir.project IN SHARE ROW EXCLUSIVE MODE`)
		var into, from int64
		if err == nil {
			into, err = projectOf(ctx, tx, org, of, false)
		}
		if err == nil {
			from, err = projectOf(ctx, tx, org, key, true)
		}
		if err == nil && from != into {
			err = merge(ctx, tx, into, from)
		}
		if err != nil {
			return err
		}
		return a.hub.queueDue(ctx, tx, org)
	})
}

// NewEpoch starts an epoch for what no fingerprint shows: files of the database that were copied back.
func (h *Hub) NewEpoch(ctx context.Context) error {
	_, err := h.pool.Exec(ctx, newEpoch)
	return asError(err)
}

const newEpoch = `UPDATE memoir.hub SET epoch = replace(gen_random_uuid()::text, '-', '')`

// merge makes one project an alias of another.
func merge(ctx context.Context, tx pgx.Tx, into, from int64) error {
	b := &pgx.Batch{}
	b.Queue(`WITH moved AS (DELETE FROM memoir.tombstone WHERE project = $2 RETURNING *)
		INSERT INTO memoir.tombstone AS g SELECT m.organisation, $1, m.member, m.hash, p.seq + m.seq, m.replaced
		FROM moved m, memoir.project p WHERE p.id = $1 ON CONFLICT (organisation, project, member, hash)
		DO UPDATE SET replaced = g.replaced AND excluded.replaced`, into, from)
	for table, columns := range map[string]string{
		"statement": "session, own, day, body", "edit": "generation, day, before, after"} {
		b.Queue(`WITH moved AS (DELETE FROM memoir.`+table+` WHERE project = $2 RETURNING *)
			INSERT INTO memoir.`+table+` (organisation, project, member, hash, seq, `+columns+`)
			SELECT m.organisation, $1, member, hash, p.seq + m.seq, `+columns+`
			FROM moved m, memoir.project p WHERE p.id = $1 ON CONFLICT DO NOTHING`, into, from)
		b.Queue(`DELETE FROM memoir.`+table+` s USING memoir.tombstone g
			WHERE s.project = $1 AND g.project = $1 AND s.member = g.member AND s.hash = g.hash`, into)
	}
	b.Queue(newEpoch+` WHERE EXISTS (SELECT FROM memoir.project WHERE id = $1 AND seq > 0)`, from)
	b.Queue(`UPDATE memoir.project p SET seq = p.seq + f.seq FROM memoir.project f
		WHERE p.id = $1 AND f.id = $2`, into, from)
	b.Queue(`INSERT INTO memoir.access SELECT organisation, member, $1, role FROM memoir.access WHERE project = $2
		ON CONFLICT (member, project) DO UPDATE SET role = greatest(access.role, excluded.role)`, into, from)
	b.Queue(`UPDATE memoir.transcript SET project = $1 WHERE project = $2
		AND hash NOT IN (SELECT hash FROM memoir.transcript WHERE project = $1)`, into, from)
	for _, table := range []string{"access", "transcript", "generation", "archive"} {
		b.Queue(`DELETE FROM memoir.`+table+` WHERE project = $1`, from)
	}
	b.Queue(`UPDATE memoir.project SET alias_of = $1, seq = 0 WHERE id = $2 OR alias_of = $2`, into, from)
	return tx.SendBatch(ctx, b).Close()
}
