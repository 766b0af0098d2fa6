package hub

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir/team/wire"
)

// grant gives a member a role, or ends it, for an admin.
func (h *Hub) grant(r *http.Request, token string) (any, error) {
	var g wire.Grant
	role, _, err := h.administer(r, token, &g, func() []any { return []any{g.Member, g.Project, string(g.Role)} })
	return wire.Granted{Role: wire.Role(role)}, err
}

// erase removes a member with all that they have sent, for an admin of every project.
func (h *Hub) erase(r *http.Request, token string) (any, error) {
	var e wire.Erase
	_, n, err := h.administer(r, token, &e, func() []any { return []any{e.Member, wire.EveryProject, "erase"} })
	return wire.Erased{Erased: n}, err
}

// administer reads a body into in, and changes what a member may: change has the member, the project and what becomes
// of it. memoir.administer says who may, and its transaction reaches nothing else: nobody is set in it. The caller is
// looked up in an earlier one, so that no lock of their token is held while an organisation's is waited for.
func (h *Hub) administer(
	r *http.Request, token string, in any, change func() []any,
) (role string, erased int, err error) {
	if _, err = h.callerOf(r.Context(), token, nil); err == nil {
		err = readBody(r, maxJoin, in)
	}
	if err != nil {
		return "", 0, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	err = pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		var org int64
		b := &pgx.Batch{}
		h.queueAddress(b, r)
		b.Queue(`SELECT org, counts, erased FROM memoir.administer($1, $2, $3, $4)`,
			append([]any{hashOf(token)}, change()...)...).QueryRow(into(&org, &role, &erased))
		err := tx.SendBatch(ctx, b).Close()
		if err == nil && erased > 0 {
			err = h.queueDue(ctx, tx, org)
		}
		return err
	})
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Code == "MH001" {
		err = refuse(403, wire.CodeForbidden, failed.Message, failed.Hint)
	}
	return role, erased, err
}
