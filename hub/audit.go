package hub

import (
	"context"
	"errors"
	"net/http"
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
	c, _ := h.asMember(ctx, token, entry{}, nil)  // whoever it is
	if !h.audited.add(c.member, 1, maxRefusals) { // in this minute
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

// Bounds for each member, so that none fills the disk or crowds out the others. 0 is the key of all callers without a
// valid token.
const maxRefusals, maxPushes = 60, 4

// Bounds of the bodies that a hub reads at once, in bytes, and of the wait for room.
const maxBodies, waitForRoom = 12 * wire.MaxBytes, 8 * time.Second

// readInRoom reads the body of a request once there is room in memory, which it takes times as much of as a push.
func (h *Hub) readInRoom(r *http.Request, times int64, into any) (release func(), err error) {
	n := int64(wire.MaxBytes) // of an unknown length
	if r.ContentLength >= 0 {
		n = min(n, max(r.ContentLength, 64<<10)) // each also holds a connection to the database later
	}
	n *= times
	ctx, cancel := context.WithTimeout(r.Context(), waitForRoom)
	defer cancel()
	if h.room.Acquire(ctx, n) != nil {
		return func() {}, refuse(503, wire.CodeUnavailable, "too much is being sent at once", "try again later")
	}
	return func() { h.room.Release(n) }, readBody(r, into)
}

// counts are numbers by member.
type counts struct {
	mu    sync.Mutex
	of    map[int64]int
	lasts time.Duration // then counting begins again; 0: never
	till  time.Time
}

// add changes a number unless it would be more than most.
func (c *counts) add(key int64, n, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.of == nil || c.lasts > 0 && now.After(c.till) {
		c.of, c.till = map[int64]int{}, now.Add(c.lasts)
	}
	if c.of[key]+n > most {
		return false
	}
	c.of[key] += n
	return true
}
