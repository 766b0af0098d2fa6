package hub

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir"
	"memoir/team/wire"
)

// How long a code and a token are valid.
const (
	codeLife  = 24 * time.Hour
	tokenLife = 90 * 24 * time.Hour
)

// newSecret returns a token or code of 130 random bits.
func newSecret() string { return rand.Text() }

// join exchanges a code for the token of a machine, in one transaction. Of two that send the same code, the second
// finds none.
func (h *Hub) join(ctx context.Context, j wire.Join) (wire.Joined, error) {
	if err := checkName(j.Machine, 100); err != nil {
		return wire.Joined{}, refuse(400, wire.CodeUsage, err.Error(), "")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	code := hashOf(strings.TrimSpace(j.Code))
	out := wire.Joined{Token: newSecret()}
	joined := false
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config('memoir.code', $1, true)`, hex.EncodeToString(code))
	b.Queue(`SELECT set_config('memoir.organisation', organisation::text, true),
			set_config('memoir.member', member::text, true)
		FROM memoir.code WHERE hash = $1 AND expires > now()`, code)
	b.Queue(`WITH used AS (DELETE FROM memoir.code WHERE hash = $1 AND expires > now() RETURNING organisation, member)
		INSERT INTO memoir.token (hash, organisation, member, machine, expires)
		SELECT $2, organisation, member, $3, now() + $4::interval FROM used`, code, hashOf(out.Token), j.Machine, tokenLife)
	queueJoined(b, &out, "join", &joined)
	if err := h.pool.SendBatch(ctx, b).Close(); err != nil {
		return wire.Joined{}, err
	}
	if !joined {
		return wire.Joined{}, refuse(401, wire.CodeUnauthorised, "this code is unknown, used or expired", "ask for another")
	}
	return out, nil
}

// queueJoined reads the answer to whom a new token belongs, and writes an audit row.
func queueJoined(b *pgx.Batch, out *wire.Joined, action string, joined *bool) {
	hash := hashOf(out.Token)
	b.Queue(callers+`INSERT INTO memoir.audit (organisation, member, machine, action)
		SELECT organisation, member, machine, $2 FROM caller`, hash, action)
	b.Queue(callers+`SELECT o.name, m.name, t.id::text, t.expires, memoir.current_epoch()
		FROM caller c JOIN memoir.token t ON t.id = c.machine JOIN memoir.organisation o ON o.id = c.organisation
		JOIN memoir.member m ON m.organisation = c.organisation AND m.id = c.member`, hash).
		Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&out.Organisation, &out.Member, &out.Machine, &out.Expires, &out.Epoch},
				func() error { *joined = true; return nil })
			return err
		})
}

// rotate replaces the token that it is called with. If the answer is lost, the machine has to join again.
func (h *Hub) rotate(ctx context.Context, token string) (wire.Joined, error) {
	out := wire.Joined{Token: newSecret()}
	rotated := false
	_, err := h.asMember(ctx, token, entry{}, func(b *pgx.Batch, hash []byte) {
		b.Queue(`UPDATE memoir.token SET hash = $2, expires = now() + $3::interval
			WHERE hash = $1 AND revoked IS NULL AND expires > now()`, hash, hashOf(out.Token), tokenLife)
		queueJoined(b, &out, "rotate", &rotated)
	})
	if err == nil && !rotated {
		err = refuse(401, wire.CodeUnauthorised, "this token was replaced just now", "")
	}
	return out, err
}

// me answers whose token it is.
func (h *Hub) me(ctx context.Context, token string) (wire.Me, error) {
	me := wire.Me{Projects: map[string]wire.Role{}, Machines: []wire.Machine{}}
	c, err := h.asMember(ctx, token, entry{}, func(b *pgx.Batch, hash []byte) {
		b.Queue(callers+`SELECT o.name, m.name FROM caller c JOIN memoir.organisation o ON o.id = c.organisation
			JOIN memoir.member m ON m.organisation = c.organisation AND m.id = c.member`, hash).
			Query(func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&me.Organisation, &me.Member}, func() error { return nil })
				return err
			})
		b.Queue(callers+`SELECT k.key, max(a.role)::text FROM caller c
			JOIN memoir.access a ON a.organisation = c.organisation AND a.member = c.member
			JOIN memoir.project k ON k.organisation = c.organisation
				AND (a.project IS NULL OR a.project = coalesce(k.alias_of, k.id))
			GROUP BY k.key`, hash).
			Query(func(rows pgx.Rows) error {
				var key, role string
				_, err := pgx.ForEachRow(rows, []any{&key, &role}, func() error {
					me.Projects[key] = wire.Role(role)
					return nil
				})
				return err
			})
		b.Queue(callers+`SELECT t.id::text, t.machine, t.seen FROM caller c
			JOIN memoir.token t ON t.organisation = c.organisation AND t.member = c.member
			WHERE t.revoked IS NULL AND t.expires > now() ORDER BY t.id`, hash).
			Query(func(rows pgx.Rows) error {
				found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[wire.Machine])
				me.Machines = append(me.Machines, found...)
				return err
			})
	})
	me.Machine, me.Expires, me.Epoch = strconv.FormatInt(c.machine, 10), c.expires, c.epoch
	return me, err
}

// revoke ends the token of one of the caller's machines.
func (h *Hub) revoke(ctx context.Context, token, machine string) error {
	id, _ := strconv.ParseInt(machine, 10, 64) // 0 is nobody's
	_, err := h.asMember(ctx, token, entry{}, func(b *pgx.Batch, hash []byte) {
		b.Queue(callers+`, gone AS (UPDATE memoir.token t SET revoked = now() FROM caller c
				WHERE t.id = $2 AND t.organisation = c.organisation AND t.member = c.member AND t.revoked IS NULL
				RETURNING t.id)
			INSERT INTO memoir.audit (organisation, member, machine, action, detail)
			SELECT c.organisation, c.member, c.machine, 'revoke', gone.id::text FROM caller c, gone`, hash, id).
			Exec(func(done pgconn.CommandTag) error {
				if done.RowsAffected() == 0 {
					return refuse(404, wire.CodeNotFound, "you have no machine "+strconv.Quote(memoir.Cut(machine, 20)), "")
				}
				return nil
			})
	})
	return err
}
