package hub

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir/team/wire"
)

// maxJoin bounds the body of a request that anybody may send, in bytes.
const maxJoin = 4 << 10

// How long a code and a token are valid. Each has 130 random bits.
const (
	codeLife  = 24 * time.Hour
	tokenLife = 90 * 24 * time.Hour
)

// join exchanges a code for the token of a machine, in one transaction. Of two that send the same code, the second
// finds none.
func (h *Hub) join(r *http.Request, _ string) (any, error) {
	var j wire.Join
	if err := readBody(r, maxJoin, &j); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	code := hashOf(strings.TrimSpace(j.Code))
	out := wire.Joined{Token: rand.Text()}
	b := &pgx.Batch{}
	h.queueAddress(b, r)
	b.Queue(`SELECT set_config('memoir.code', $1, true)`, hex.EncodeToString(code))
	b.Queue(`SELECT set_config('memoir.organisation', organisation::text, true),
			set_config('memoir.member', member::text, true)
		FROM memoir.code WHERE hash = $1 AND expires > now()`, code)
	b.Queue(`WITH used AS (DELETE FROM memoir.code WHERE hash = $1 AND expires > now() RETURNING organisation, member)
		INSERT INTO memoir.token (hash, organisation, member, machine, expires)
		SELECT $2, organisation, member, $3, now() + $4::interval FROM used`, code, hashOf(out.Token), j.Machine, tokenLife)
	queueJoined(b, &out, "join")
	if err := h.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	if out.Machine == "" {
		return nil, refuse(401, wire.CodeUnauthorised, "this code is unknown, used or expired", "ask for another")
	}
	return out, nil
}

// queueAddress has the rows of the audit that a transaction writes say where the request came from.
func (h *Hub) queueAddress(b *pgx.Batch, r *http.Request) {
	b.Queue(`SELECT set_config('memoir.address', $1, true)`, h.address(r))
}

// queueJoined writes an audit row of a new token, and reads whose it is.
func queueJoined(b *pgx.Batch, out *wire.Joined, action string) {
	hash := hashOf(out.Token)
	b.Queue(callers+`INSERT INTO memoir.audit (organisation, member, machine, action)
		SELECT organisation, member, machine, $2 FROM caller`, hash, action)
	queueWhose(b, hash, out)
}

// queueWhose reads whose token it is, by its hash. Of one that is nobody's, out stays as it is.
func queueWhose(b *pgx.Batch, hash []byte, out *wire.Joined) {
	b.Queue(callers+`SELECT o.name, m.name, t.id::text, t.expires, memoir.current_epoch()
		FROM caller c JOIN memoir.token t ON t.id = c.machine JOIN memoir.organisation o ON o.id = c.organisation
		JOIN memoir.member m ON m.organisation = c.organisation AND m.id = c.member`, hash).
		QueryRow(into(&out.Organisation, &out.Member, &out.Machine, &out.Expires, &out.Epoch))
}

// rotate replaces the token that it is called with by the next one, which the machine keeps if the answer is lost.
func (h *Hub) rotate(r *http.Request, token string) (any, error) {
	next := wire.Rotate{Token: rand.Text()}
	if err := readBody(r, maxJoin, &next); err != nil && r.ContentLength != 0 {
		return nil, err
	}
	out := wire.Joined{Token: next.Token}
	if len(next.Token) != len(rand.Text()) || next.Token == token {
		return nil, refuse(400, wire.CodeUsage, "this is no new token", "")
	}
	_, err := h.asMember(r.Context(), token, func(b *pgx.Batch, hash []byte) {
		h.queueAddress(b, r)
		b.Queue(`UPDATE memoir.token SET hash = $2, expires = now() + $3::interval
			WHERE hash = $1 AND revoked IS NULL AND expires > now() AND NOT shared`, hash, hashOf(out.Token), tokenLife)
		queueJoined(b, &out, "rotate")
	})
	if err == nil && out.Machine == "" {
		err = refuse(401, wire.CodeUnauthorised, "this token was replaced just now, or is one of `token add`", "")
	}
	return out, err
}

// me answers whose token it is.
func (h *Hub) me(r *http.Request, token string) (any, error) {
	var me wire.Joined
	_, err := h.asMember(r.Context(), token, func(b *pgx.Batch, hash []byte) { queueWhose(b, hash, &me) })
	return me, err
}

// machines answers with the machines of the member.
func (h *Hub) machines(r *http.Request, token string) (any, error) {
	all := []wire.Machine{}
	_, err := h.asMember(r.Context(), token, func(b *pgx.Batch, hash []byte) {
		b.Queue(callers+`SELECT t.id::text, t.machine, t.seen, t.expires, t.id = c.machine
			FROM caller c JOIN memoir.token t ON t.organisation = c.organisation AND t.member = c.member AND NOT c.shared
			WHERE t.revoked IS NULL AND t.expires > now() ORDER BY t.id`, hash).Query(func(rows pgx.Rows) (err error) {
			all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[wire.Machine])
			return err
		})
	})
	return all, err
}

// leave revokes the token that it is called with, or that of another machine of the member, by its id.
func (h *Hub) leave(r *http.Request, token string) (any, error) {
	_, err := h.asMember(r.Context(), token, func(b *pgx.Batch, hash []byte) {
		h.queueAddress(b, r)
		b.Queue(callers+`, gone AS (UPDATE memoir.token t SET revoked = now() FROM caller c
				WHERE t.organisation = c.organisation AND t.member = c.member AND t.revoked IS NULL AND NOT c.shared
					AND t.id::text = coalesce(nullif($2, ''), c.machine::text) RETURNING t.id)
			INSERT INTO memoir.audit (organisation, member, machine, action, detail)
			SELECT organisation, member, machine, 'revoke', coalesce(nullif(id, machine)::text, '') FROM caller, gone`,
			hash, r.PathValue("id")).Exec(func(done pgconn.CommandTag) error {
			if done.RowsAffected() == 0 {
				return refuse(404, wire.CodeNotFound, "no machine of yours has this id and a token", askOperator)
			}
			return nil
		})
	})
	return nil, err
}
