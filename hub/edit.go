package hub

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir/consolidate"
	"memoir/team/wire"
)

// maxEdits bounds the edits of a generation. Beyond it, the newest ones are in.
const maxEdits = 4000

// queueEdits numbers the edits of a push, behind its statements, and returns their hashes.
func queueEdits(
	b *pgx.Batch, w whose, edits []wire.Edit, count func(pgconn.CommandTag) error,
) (hashes []string) {
	var days, before, after []string
	var generations []int64
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly) // a clock may be ahead, but not for ever
	for _, e := range edits {
		hashes, generations = append(hashes, e.Hash), append(generations, int64(e.Generation))
		days = append(days, min(e.Day, tomorrow))
		before, after = append(before, e.Before), append(after, e.After)
	}
	w.store(b, "edit", "generation, day, before, after", "$5::bigint[], $6::date[], $7::text[], $8::text[]",
		0, count, hashes, generations, days, before, after)
	return hashes
}

// readEdits reads the edits of a project, the oldest first.
func (w *work) readEdits(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, `SELECT m.name, before, after, to_char(day, 'YYYY-MM-DD')
		FROM memoir.edit e JOIN memoir.member m ON m.organisation = e.organisation AND m.id = e.member
		WHERE e.project = $1 AND e.seq <= $2
		ORDER BY day DESC, generation DESC, seq DESC LIMIT $3`, w.project, w.seq, maxEdits)
	edits, err := pgx.CollectRows(rows, pgx.RowToStructByPos[consolidate.TeamEdit]) // it has the error of the query, too
	for i := range edits {
		edits[i].Member = wire.MemberName(edits[i].Member)
	}
	slices.Reverse(edits)
	w.edits = edits
	return err
}
