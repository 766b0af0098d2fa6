package hub

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir/team/wire"
)

// refusal is why a request was not carried out.
type refusal struct {
	status int
	wire.Problem
}

// Error returns the title.
func (r *refusal) Error() string { return r.Title }

func refuse(status int, code, title, hint string) *refusal {
	return &refusal{status, wire.Problem{Title: title, Code: code, Hint: hint}}
}

// audit records a refusal in a transaction of its own: the refused one has changed nothing.
func (h *Hub) audit(ctx context.Context, token, address, action string, r *refusal) error {
	c, _ := h.asMember(ctx, token, entry{}, nil) // whoever it is
	if !c.live && !h.guests.take() {
		return nil // the log has it
	}
	detail := strings.TrimSpace(r.Rule + " " + r.Hash)
	_, err := h.asMember(ctx, token, entry{}, func(b *pgx.Batch, hash []byte) {
		b.Queue(`INSERT INTO memoir.audit (organisation, member, machine, address, action, code, detail)
			VALUES (memoir.current_organisation(), memoir.current_member(),
				(SELECT id FROM memoir.token WHERE hash = $1), $2, $3, $4, $5)`, hash, address, action, r.Code, detail)
	})
	if _, unknown := errors.AsType[*refusal](err); unknown {
		return nil
	}
	return err
}

// budget bounds the audit rows that callers without a valid token cause in a minute, so that they cannot fill the disk.
type budget struct {
	mu   sync.Mutex
	left int
	till time.Time
}

func (b *budget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.After(b.till) {
		b.left, b.till = 60, now.Add(time.Minute)
	}
	b.left--
	return b.left >= 0
}
