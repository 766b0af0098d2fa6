package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir/team/wire"
)

// askOperator is the hint for who lacks a role.
const askOperator = "ask an operator of the hub for access"

// pushed answers a push. Only a member's is read and scanned, which takes time.
func (h *Hub) pushed(r *http.Request, token string) (any, error) {
	c, err := h.callerOf(r.Context(), token, nil)
	if err != nil {
		return nil, err
	}
	for key, most := range map[string]int{c.member: maxPushes, "": maxPushesOfAll} {
		if !h.pushes.add(key, 1, most) {
			return nil, refuse(503, wire.CodeUnavailable, "too many pushes are under way", "try again later")
		}
		defer h.pushes.add(key, -1, most)
	}
	var p wire.Push
	release, err := admit(r, &p, pushBytes)
	if err != nil {
		return nil, err
	}
	defer release()
	done, err := h.push(r.Context(), token, p)
	if err == nil {
		h.metrics.stored.Add(float64(done.New))
		h.full.Store(0)
	}
	return done, err
}

// push stores a push that wire.Push.Check has accepted, in one transaction. The lock of the token makes revoking wait
// for it, the lock of the project makes changes commit in the order of their numbers. A repeated push takes numbers and
// leaves them unused. A reader may withdraw, since that only shows less.
func (h *Hub) push(ctx context.Context, token string, p wire.Push) (wire.Pushed, error) {
	var pushed wire.Pushed
	if err := h.scan(p); err != nil {
		return pushed, err
	}
	count := counting(&pushed.New)
	var project int64
	needed := wire.Writer
	if len(p.Statements)+len(p.Edits) == 0 {
		needed = wire.Reader
	}
	store := func(b *pgx.Batch, hash []byte) {
		queueProject(b, hash, p.Project)
		b.Queue(`UPDATE memoir.project p SET seq = p.seq + $3 FROM memoir.reach($1, $2, $4::memoir.role) t
			WHERE p.id = t.project AND p.organisation = t.organisation RETURNING p.id`,
			hash, p.Project, p.Items(), string(needed)).QueryRow(intoReached(&project))
		if len(p.Tombstones) > 0 {
			queueTombstones(b, hash, p, count)
		}
		if needed == wire.Writer {
			by := whose{reached, hash, p.Project}
			hashes := slices.Concat(queueStatements(b, by, p.Statements, len(p.Edits), count), queueEdits(b, by, p.Edits, count))
			b.Queue(`SELECT encode(g.hash, 'hex'), g.replaced FROM `+reached+` t JOIN memoir.tombstone g
				ON g.organisation = t.organisation AND g.project = t.project AND g.member = t.member
				WHERE g.hash IN (SELECT decode(h, 'hex') FROM unnest($3::text[]) h)`, hash, p.Project, hashes).
				Query(func(rows pgx.Rows) error {
					var hash string
					var again bool
					_, err := pgx.ForEachRow(rows, []any{&hash, &again}, func() error {
						if pushed.Withdrawn = append(pushed.Withdrawn, hash); again {
							pushed.Again = append(pushed.Again, hash)
						}
						return nil
					})
					return err
				})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		c, err := asMemberIn(ctx, tx, token, store)
		if pushed.Epoch = c.epoch; err == nil && pushed.New > 0 {
			err = h.queue(ctx, tx, consolidateArgs{project})
		}
		if err == nil && len(p.Tombstones) > 0 {
			err = h.hasten(ctx, tx, project)
		}
		return err
	})
	return pushed, err
}

// queueProject creates a project with its first push.
func queueProject(b *pgx.Batch, hash []byte, key string) {
	b.Queue(`INSERT INTO memoir.project (organisation, key) SELECT organisation, $2 FROM `+reached+`
		WHERE project IS NULL ON CONFLICT DO NOTHING`, hash, key)
}

// queueTombstones numbers the tombstones before the statements, and deletes what they withdraw. A person withdraws it,
// for ever, unless the machine only ends its sharing.
func queueTombstones(b *pgx.Batch, hash []byte, p wire.Push, count func(pgconn.CommandTag) error) {
	const mine = `memoir.reach($1, $2, 'reader') t, unnest($3::text[]) WITH ORDINALITY AS i(hash, n)`
	const same = ` o.organisation = t.organisation AND o.project = t.project AND o.member = t.member
		AND o.hash = decode(i.hash, 'hex')`
	b.Queue(`INSERT INTO memoir.tombstone (organisation, project, member, hash, seq, replaced)
		SELECT t.organisation, t.project, t.member, decode(i.hash, 'hex'), t.newest - $4 + i.n, $5 FROM `+mine+`
		ON CONFLICT (organisation, project, member, hash) DO NOTHING`,
		hash, p.Project, p.Tombstones, p.Items(), p.Unshared).Exec(count)
	for _, table := range []string{"statement", "edit"} {
		b.Queue(`DELETE FROM memoir.`+table+` o USING `+mine+` WHERE`+same, hash, p.Project, p.Tombstones)
	}
	b.Queue(`UPDATE memoir.tombstone o SET replaced = false FROM `+mine+` WHERE o.replaced AND NOT $4 AND`+same,
		hash, p.Project, p.Tombstones, p.Unshared)
}

// whose is a table with one row: whose statements are stored, and where. $1 and $2 are its parameters.
type whose struct {
	table    string
	one, two any
}

// reached is where the token $1 may push the project $2.
const reached = `memoir.reach($1, $2, 'writer')`

// intoReached reads the id of a project that the caller may push to; without a row it refuses.
func intoReached(project *int64) func(pgx.Row) error {
	return func(row pgx.Row) error {
		return orNone(row.Scan(project),
			refuse(403, wire.CodeForbidden, "you may not push to this project", askOperator))
	}
}

// queueStatements numbers the statements of a push, behind which others follow, and returns their hashes.
func queueStatements(
	b *pgx.Batch, w whose, statements []wire.Statement, behind int, count func(pgconn.CommandTag) error,
) (hashes []string) {
	var sessions, days, bodies []string
	var own []bool
	for _, s := range statements {
		hashes, sessions, own = append(hashes, s.Hash), append(sessions, s.Session), append(own, s.Own)
		days, bodies = append(days, s.Day), append(bodies, string(s.Body))
	}
	w.store(b, "statement", "session, own, day, body", "$5::text[], $6::boolean[], $7::date[], $8::text[]::json[]",
		behind, count, hashes, sessions, own, days, bodies)
	return hashes
}

// store numbers the items of a push, behind which others follow, and stores those without a tombstone in the columns of
// a table; arrays is SQL of their values from $5 on.
func (w whose) store(b *pgx.Batch, table, columns, arrays string, behind int, count func(pgconn.CommandTag) error,
	hashes []string, values ...any) {
	if len(hashes) == 0 {
		return
	}
	b.Queue(`INSERT INTO memoir.`+table+` (organisation, project, member, hash, seq, `+columns+`)
		SELECT t.organisation, t.project, t.member, decode(i.hash, 'hex'), t.newest - $4 + i.n, `+columns+`
		FROM `+w.table+` t, unnest($3::text[], `+arrays+`) WITH ORDINALITY AS i(hash, `+columns+`, n)
		WHERE NOT EXISTS (SELECT FROM memoir.tombstone g WHERE g.organisation = t.organisation AND g.project = t.project
			AND g.member = t.member AND g.hash = decode(i.hash, 'hex'))
		ON CONFLICT (organisation, project, member, hash) DO NOTHING`,
		append([]any{w.one, w.two, hashes, len(hashes) + behind}, values...)...).Exec(count)
}

// counting adds the rows that a query changes.
func counting(n *int) func(pgconn.CommandTag) error {
	return func(done pgconn.CommandTag) error {
		*n += int(done.RowsAffected())
		return nil
	}
}

// scan refuses a checked push if a text of a statement or an edit has a secret. The refusal names the rule and the
// hash, not the text.
func (h *Hub) scan(p wire.Push) error {
	if found := h.scanner.Find(p.Project); len(found) > 0 {
		refused := refuse(422, wire.CodeSecret, "the project's key has a secret ("+found[0].Rule+")",
			"share it under another name")
		refused.Rule = found[0].Rule
		return refused
	}
	all := slices.Clone(p.Statements)
	for _, e := range p.Edits {
		body, _ := json.Marshal([]string{e.Before, e.After})
		all = append(all, wire.Statement{Hash: e.Hash, Body: body})
	}
	for _, s := range all {
		if rule := h.secretIn(s.Body); rule != "" {
			refused := refuse(422, wire.CodeSecret, "what is pushed has a secret ("+rule+")", "update memoir on that machine")
			refused.Rule, refused.Hash = rule, s.Hash
			return refused
		}
	}
	return nil
}

// secretIn returns the rule of the first secret in a text of valid JSON: a member's name, or a value. All values of a
// name that is given twice count.
func (h *Hub) secretIn(body []byte) (rule string) {
	for start := bytes.IndexByte(body, '"'); start >= 0; start = bytes.IndexByte(body, '"') {
		body = body[start:]
		end := 1
		for ; body[end] != '"'; end++ {
			if body[end] == '\\' {
				end++
			}
		}
		var text string
		_ = json.Unmarshal(body[:end+1], &text)
		if found := h.scanner.Find(text); len(found) > 0 {
			return found[0].Rule
		}
		body = body[end+1:]
	}
	return ""
}
