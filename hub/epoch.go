package hub

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// queueEpoch begins a transaction whose answer has an epoch. A database that was restored, copied or promoted since has
// another fingerprint than the one stored beside its epoch, and starts a new epoch before anything is answered. Cursors
// of the old one then count for nothing, and machines send again what they have.
func queueEpoch(b *pgx.Batch) {
	b.Queue(`UPDATE memoir.hub SET epoch = replace(gen_random_uuid()::text, '-', ''), fingerprint = memoir.fingerprint()
		WHERE fingerprint <> memoir.fingerprint()`)
}

// NewEpoch starts one, for what no fingerprint shows: files of the database that were copied back.
func (h *Hub) NewEpoch(ctx context.Context) error {
	_, err := h.pool.Exec(ctx, newEpoch)
	return asError(err)
}

const newEpoch = `UPDATE memoir.hub SET epoch = replace(gen_random_uuid()::text, '-', '')`
