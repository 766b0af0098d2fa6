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
	if !h.audited.take(c.member) {
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

// budget bounds the audit rows of refusals that each member, and all callers without a valid token, cause in a minute,
// so that they cannot fill the disk.
type budget struct {
	mu   sync.Mutex
	used map[int64]int // by member; 0 is nobody
	till time.Time
}

func (b *budget) take(member int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.After(b.till) {
		b.used, b.till = map[int64]int{}, now.Add(time.Minute)
	}
	b.used[member]++
	return b.used[member] <= 60
}

// Bounds of the pushes that a hub takes at once. Each holds its body in memory, and later a connection to the database.
const maxPushes, maxPushesOfMember = 64, 4

// pushes counts those that are under way, so that nobody crowds out the other members.
type pushes struct {
	mu  sync.Mutex
	all int
	of  map[int64]int // by member
}

// begin counts a push until it ends.
func (p *pushes) begin(member int64) (end func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == maxPushes || p.of[member] == maxPushesOfMember {
		return nil, refuse(503, wire.CodeUnavailable, "too many pushes are under way", "try again later")
	}
	count := func(n int) {
		p.all += n
		if p.of[member] += n; p.of[member] == 0 {
			delete(p.of, member)
		}
	}
	count(1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		count(-1)
	}, nil
}
