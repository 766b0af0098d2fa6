package hub

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
)

// readLive reads the generation that machines get, if something was withdrawn since it was made.
func (w *work) readLive(ctx context.Context, tx pgx.Tx) error {
	return orNone(tx.QueryRow(ctx, `WITH live AS (SELECT number, seq, model, archive FROM memoir.generation
			WHERE project = $1 AND state = 'published' ORDER BY number DESC LIMIT 1)
		SELECT g.number, g.model, a.body FROM live g JOIN memoir.archive a ON a.project = $1 AND a.hash = g.archive
		WHERE EXISTS (SELECT FROM memoir.tombstone t WHERE t.project = $1 AND t.seq > g.seq AND t.seq <= $2)`,
		w.project, w.seq).Scan(&w.live.number, &w.live.model, &w.live.archive), nil)
}

// withdraw publishes the generation that machines get without the lines of what was withdrawn since, before a model or
// a person is asked about the next one. It reports whether it did. What waits has a lower number then, so nobody can
// accept it. Where neither is asked, the next generation does that.
func (h *Hub) withdraw(ctx context.Context, w *work) (done bool, err error) {
	if w.live.number == 0 || w.policy.builtin() && !w.policy.Review {
		return false, nil
	}
	cut := *w
	cut.policy.Review = false
	cut.parent.files, cut.parent.manifest, err = memory.Unpack(bytes.NewReader(w.live.archive))
	sessions, gone := partsOf(cut.parent.files, w.input.Extractions)
	if err != nil || len(gone) == 0 {
		return false, err
	}
	if w.live.model != consolidate.NewBuiltin().Name() { // a model's lines go with their session
		cut.renumber(sessions)
	}
	present := memory.Snapshot{Generation: int(w.live.number), Files: cut.parent.files,
		Manifest: cut.parent.manifest}.Consolidation()
	cut.input = consolidate.Input{Project: w.input.Project, Extractions: sessions, Current: present}
	left := consolidate.OnlyHandEdits(consolidate.Input{Project: w.input.Project})
	if len(sessions) > 0 {
		left = (&consolidate.Base{Memory: *present, Sessions: sessions, Gone: gone}).Without(w.input.Project)
	}
	left.Open = append(left.Open, memoir.Map(sessions, func(e memoir.Extraction) string { return e.SessionKey })...)
	next, err := h.pack(&cut, left)
	if err != nil || next == nil {
		return false, err
	}
	return true, h.asWorker(ctx, w.project, func(tx pgx.Tx) error {
		var newer int
		b := &pgx.Batch{}
		b.Queue(`SELECT FROM memoir.project WHERE id = $1 FOR UPDATE`, w.project) // as publish does
		b.Queue(`SELECT count(*) FROM memoir.generation WHERE project = $1 AND number > $2 AND state = 'published'`,
			w.project, w.live.number).QueryRow(into(&newer))
		queueGeneration(b, &cut, next, w.live.model)
		err := tx.SendBatch(ctx, b).Close()
		if err == nil && newer > 0 {
			err = errOutrun
		}
		if err == nil {
			err = h.queue(ctx, tx, purgeArgs{w.project})
		}
		return err
	})
}

// partsOf returns what a generation was made of, by the keys of groups: what still is there, and what is not.
func partsOf(files memory.Files, there []memoir.Extraction) (left, gone []memoir.Extraction) {
	known := map[[2]string]bool{}
	for _, e := range there {
		base, _ := memoir.ReceivedGroup(e.SessionKey)
		for _, st := range e.Statements {
			known[[2]string{base, st.ID}] = true
		}
	}
	was, _ := memory.DecodeStatements(files[memory.StatementsFile]) // no text of ours is damaged
	for _, e := range was {
		e.SessionKey, _ = memoir.ReceivedGroup(e.SessionKey)
		isThere := func(st memoir.Statement) bool { return known[[2]string{e.SessionKey, st.ID}] }
		stays, lost := e, e
		lost.Statements = slices.DeleteFunc(slices.Clone(e.Statements), isThere)
		stays.Statements = slices.DeleteFunc(e.Statements, func(st memoir.Statement) bool { return !isThere(st) })
		if len(stays.Statements) > 0 {
			left = append(left, stays)
		}
		if len(lost.Statements) > 0 {
			gone = append(gone, lost)
		}
	}
	return left, gone
}
