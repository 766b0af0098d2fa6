package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir/team/wire"
)

// askOperator is the hint for who lacks a role.
const askOperator = "ask an operator of the hub for access"

// push stores a push that wire.Push.Check has accepted, in one transaction. The lock of the token makes revoking wait
// for it, the lock of the project makes changes commit in the order of their numbers. A repeated push takes numbers and
// leaves them unused. A reader may withdraw, since that only shows less.
func (h *Hub) push(ctx context.Context, token string, p wire.Push) (wire.Pushed, error) {
	var pushed wire.Pushed
	if err := h.scan(p); err != nil {
		return pushed, err
	}
	count := func(done pgconn.CommandTag) error {
		pushed.New += int(done.RowsAffected())
		return nil
	}
	var project int64
	needed := wire.Writer
	if len(p.Statements)+len(p.Edits) == 0 {
		needed = wire.Reader
	}
	store := func(b *pgx.Batch, hash []byte) {
		queueProject(b, hash, p.Project)
		b.Queue(`UPDATE memoir.project p SET seq = p.seq + $3 FROM memoir.reach($1, $2, $4::memoir.role) t
			WHERE p.id = t.project AND p.organisation = t.organisation RETURNING p.id`,
			hash, p.Project, p.Items(), string(needed)).QueryRow(func(row pgx.Row) error {
			err := row.Scan(&project)
			if errors.Is(err, pgx.ErrNoRows) {
				return refuse(403, wire.CodeForbidden, "you may not push to this project", askOperator)
			}
			return err
		})
		if len(p.Tombstones) > 0 {
			by := whose{`memoir.reach($1, $2, 'reader')`, hash, p.Project}
			queueTombstones(b, by, p, false, count)
			b.Queue(`UPDATE memoir.tombstone g SET replaced = false FROM `+by.table+` t, unnest($3::text[]) AS i(hash)
				WHERE g.organisation = t.organisation AND g.project = t.project AND g.member = t.member
					AND g.hash = decode(i.hash, 'hex') AND g.replaced`, by.one, by.two, p.Tombstones)
		}
		if needed == wire.Writer {
			by := whose{reached, hash, p.Project}
			hashes := append(queueStatements(b, by, p, count), queueEdits(b, by, p, count)...)
			b.Queue(`SELECT encode(g.hash, 'hex') FROM `+reached+` t JOIN memoir.tombstone g
				ON g.organisation = t.organisation AND g.project = t.project AND g.member = t.member
				WHERE g.hash IN (SELECT decode(h, 'hex') FROM unnest($3::text[]) h)`, hash, p.Project, hashes).
				Query(func(rows pgx.Rows) (err error) {
					pushed.Withdrawn, err = pgx.CollectRows(rows, pgx.RowTo[string])
					return err
				})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		c, err := asMemberIn(ctx, tx, token, entry{hold: true}, store)
		if pushed.Epoch = c.epoch; err == nil && pushed.New > 0 {
			err = h.queue(ctx, tx, consolidateArgs{project})
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

// whose is a table with one row: whose statements are stored, and where. $1 and $2 are its parameters.
type whose struct {
	table    string
	one, two any
}

// reached is where the token $1 may push the project $2.
const reached = `memoir.reach($1, $2, 'writer')`

// queueTombstones numbers the tombstones before the statements, and deletes what they withdraw. replaced says that no
// person withdraws it.
func queueTombstones(b *pgx.Batch, w whose, p wire.Push, replaced bool, count func(pgconn.CommandTag) error) {
	b.Queue(`INSERT INTO memoir.tombstone (organisation, project, member, hash, seq, replaced)
		SELECT t.organisation, t.project, t.member, decode(i.hash, 'hex'), t.newest - $4 + i.n, $5
		FROM `+w.table+` t, unnest($3::text[]) WITH ORDINALITY AS i(hash, n)
		ON CONFLICT (organisation, project, member, hash) DO NOTHING`,
		w.one, w.two, p.Tombstones, p.Items(), replaced).Exec(count)
	for _, table := range []string{"statement", "edit"} {
		b.Queue(`DELETE FROM memoir.`+table+` s USING `+w.table+` t, unnest($3::text[]) AS i(hash)
			WHERE s.organisation = t.organisation AND s.project = t.project AND s.member = t.member
				AND s.hash = decode(i.hash, 'hex')`, w.one, w.two, p.Tombstones)
	}
}

// queueStatements returns the hashes of the statements.
func queueStatements(b *pgx.Batch, w whose, p wire.Push, count func(pgconn.CommandTag) error) (hashes []string) {
	n := len(p.Statements)
	hashes = make([]string, n)
	sessions, days, bodies := make([]string, n), make([]string, n), make([]string, n)
	own := make([]bool, n)
	for i, s := range p.Statements {
		hashes[i], sessions[i], own[i], days[i], bodies[i] = s.Hash, s.Session, s.Own, s.Day, string(s.Body)
	}
	b.Queue(`INSERT INTO memoir.statement (organisation, project, member, hash, seq, session, own, day, body)
		SELECT t.organisation, t.project, t.member, decode(i.hash, 'hex'), t.newest - $8 + i.n,
			i.session, i.own, i.day, i.body::json
		FROM `+w.table+` t,
			unnest($3::text[], $4::text[], $5::boolean[], $6::date[], $7::text[]) WITH ORDINALITY
				AS i(hash, session, own, day, body, n)
		WHERE NOT EXISTS (SELECT FROM memoir.tombstone g WHERE g.organisation = t.organisation AND g.project = t.project
			AND g.member = t.member AND g.hash = decode(i.hash, 'hex'))
		ON CONFLICT (organisation, project, member, hash) DO NOTHING`,
		w.one, w.two, hashes, sessions, own, days, bodies, n+len(p.Edits)).Exec(count)
	return hashes
}

// scan refuses a push if a text of a statement or an edit has a secret. The refusal names the rule and the hash, not
// the text.
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
		rule, err := h.secretIn(s.Body)
		if err != nil {
			return refuse(400, wire.CodeUsage, "a statement's body is no JSON object", "")
		}
		if rule != "" {
			refused := refuse(422, wire.CodeSecret, "what is pushed has a secret ("+rule+")", "update memoir on that machine")
			refused.Rule, refused.Hash = rule, s.Hash
			return refused
		}
	}
	return nil
}

// secretIn returns the rule of the first secret in a text of a JSON document: a member's name, or a value. All values
// of a name that is given twice count.
func (h *Hub) secretIn(body []byte) (rule string, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if text, ok := token.(string); ok {
			if found := h.scanner.Find(text); len(found) > 0 {
				return found[0].Rule, nil
			}
		}
	}
}
