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
	told
}

// Error returns the title.
func (r *refusal) Error() string { return r.Title }

func refuse(status int, code, title, hint string) *refusal {
	return &refusal{status: status, Problem: wire.Problem{Title: title, Code: code, Hint: hint}}
}

// audit records a refusal in a transaction of its own: the refused one has changed nothing.
func (h *Hub) audit(ctx context.Context, token, address, action string, r *refusal) error {
	c, _ := h.callerOf(ctx, token, nil)           // whoever it is
	if !h.audited.add(c.member, 1, maxRefusals) { // in this minute
		return nil // the log has it
	}
	detail := strings.TrimSpace(r.Rule + " " + r.Hash)
	_, err := h.asMember(ctx, token, func(b *pgx.Batch, hash []byte) {
		b.Queue(`INSERT INTO memoir.audit (organisation, member, machine, address, action, code, detail)
			VALUES (memoir.current_organisation(), memoir.current_member(),
				(SELECT id FROM memoir.token WHERE hash = $1), $2, $3, $4, $5)`, hash, address, action, r.Code, detail)
	})
	if _, unknown := errors.AsType[*refusal](err); unknown {
		return nil
	}
	return err
}

// Bounds for each member, so that none fills the disk or crowds out the others. "" is the key of all callers without a
// valid token, and of all pushes at once: each waits for room for its body, and later for a connection to the database.
const maxRefusals, maxPushes, maxPushesOfAll = 60, 4, 64

// counts are numbers by member.
type counts struct {
	mu    sync.Mutex
	of    map[string]int
	lasts time.Duration // then counting begins again; 0: never
	till  time.Time
}

// add changes a number unless it would be more than most.
func (c *counts) add(key string, n, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.of == nil || c.lasts > 0 && now.After(c.till) {
		c.of, c.till = map[string]int{}, now.Add(c.lasts)
	}
	if c.of[key]+n > most {
		return false
	}
	c.of[key] += n
	return true
}
