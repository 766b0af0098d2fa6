package hub

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/memory"
	"memoir/project"
	"memoir/secrets"
	"memoir/team/wire"
)

// errOutrun is of a worker that made a generation from one that is not the newest any more: it was taken for killed.
var errOutrun = errors.New("another worker has published")

// maxStatements bounds the statements of a generation, in bytes. Beyond it, each member's newest one is in, then each
// one's second, and so on.
const maxStatements = 6 << 20

// work is a project as a worker has read it.
type work struct {
	project int64
	key     string
	seq     int64      // of the last change that is in
	parent  generation // the newest
	live    struct {   // what machines get, if something was withdrawn since
		number  int64
		model   string
		archive []byte
	}
	policy Policy
	input  consolidate.Input
	edits  []consolidate.TeamEdit // the oldest first
}

// generation is one that was made, or is to be published.
type generation struct {
	number   int64 // 0: none
	archive  []byte
	files    memory.Files
	manifest memory.Manifest
}

// consolidate makes the next generation of a project from the statements that its members share, and publishes it. The
// same statements in the same order give the same files, whichever worker makes them, unless a language model does.
func (h *Hub) consolidate(ctx context.Context, r *running, args consolidateArgs) error {
	w, err := h.readWork(ctx, args.Project)
	var done bool
	if err == nil {
		done, err = h.withdraw(ctx, w)
	}
	if err == nil && done {
		w, err = h.readWork(ctx, args.Project)
	}
	if err != nil {
		return err
	}
	r.project, r.of, r.seq = w.project, w.project, w.seq
	model, err := h.consolidatorOf(ctx, w)
	if err != nil {
		return err
	}
	next, open, err := h.nextGeneration(ctx, w, model)
	if err != nil {
		return err
	}
	return h.publish(ctx, r, w, next, model.Name(), open)
}

// readWork reads what a consolidation needs in one transaction.
func (h *Hub) readWork(ctx context.Context, id int64) (w *work, err error) {
	w = &work{project: id}
	var extractions []memoir.Extraction
	err = h.asWorker(ctx, id, func(tx pgx.Tx) error {
		var org int64
		err := tx.QueryRow(ctx, `SELECT organisation, key, seq FROM memoir.project WHERE id = $1`, id).
			Scan(&org, &w.key, &w.seq)
		if err == nil {
			w.policy, err = policyOf(ctx, tx, org)
		}
		if err == nil {
			err = orNone(tx.QueryRow(ctx, `SELECT g.number, a.body FROM memoir.generation g
				LEFT JOIN memoir.archive a ON a.project = g.project AND a.hash = g.archive
				WHERE g.project = $1 ORDER BY g.number DESC LIMIT 1`, id).Scan(&w.parent.number, &w.parent.archive), nil)
		}
		if err == nil {
			extractions, err = h.readStatements(ctx, tx, w)
		}
		if err == nil {
			err = w.readEdits(ctx, tx)
		}
		if err == nil {
			err = w.readLive(ctx, tx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if w.parent.number > 0 {
		w.parent.files, w.parent.manifest, err = memory.Unpack(bytes.NewReader(w.parent.archive))
	}
	if err != nil { // of another version, or deleted by hand: the memory is made anew
		h.log.Warn("an archive cannot be read", "project", id, "generation", w.parent.number, "error", err.Error())
	}
	w.input = w.inputOf(extractions)
	return w, nil
}

// readStatements returns the shared statements of a project as a machine that received them has them: an extraction for
// each session of each member, redacted. Of a day, what arrived last is the newest.
func (h *Hub) readStatements(ctx context.Context, tx pgx.Tx, w *work) ([]memoir.Extraction, error) {
	rows, _ := tx.Query(ctx, `SELECT member, encode(hash, 'hex'), session, to_char(day, 'YYYY-MM-DD'), body, seq FROM (
			SELECT *, sum(length(body)) OVER (ORDER BY turn, day DESC, session, member, hash) AS size FROM (
				SELECT m.name AS member, hash, session, day, seq, body::text AS body, row_number()
					OVER (PARTITION BY m.id ORDER BY day DESC, session, hash) AS turn
				FROM memoir.statement s JOIN memoir.member m ON m.organisation = s.organisation AND m.id = s.member
				WHERE s.project = $1 AND NOT s.own AND s.seq <= $2) AS turns) AS newest
		WHERE size <= $3 ORDER BY member, session, day, hash`, w.project, w.seq, maxStatements) // rows have its error
	of, by := project.Named(w.key).ID, map[string]*memoir.Extraction{}
	var c wire.Change
	var seq int64
	arrived := map[string]int64{} // the last of each session
	_, err := pgx.ForEachRow(rows, []any{&c.Member, &c.Hash, &c.Session, &c.Day, &c.Body, &seq}, func() error {
		st, ok := c.Received(false)
		if !ok {
			return nil
		}
		key := memoir.ReceivedKey(wire.MemberName(c.Member), c.Session)
		if by[key] == nil {
			by[key] = &memoir.Extraction{SessionKey: key, ProjectID: of}
		}
		arrived[key] = max(arrived[key], seq)
		return by[key].AddReceived(c.Day, c.Hash, st)
	})
	var out []memoir.Extraction
	inOrder := func(a, b string) int { return cmp.Or(cmp.Compare(arrived[a], arrived[b]), strings.Compare(a, b)) }
	for n, key := range slices.SortedFunc(maps.Keys(by), inOrder) {
		e, _ := h.scanner.Extraction(*by[key])
		e.EndedAt = e.EndedAt.Add(time.Duration(n)) // orders the sessions of a day
		e.Identify()
		out = append(out, e)
	}
	return out, err
}

// inputOf returns the input of a consolidation. The built-in model makes each memory from scratch, so it does not look
// at the present one.
func (w *work) inputOf(extractions []memoir.Extraction) consolidate.Input {
	in := consolidate.Input{Project: project.Named(w.key), Changed: map[string]bool{}}
	in.Project.Remote = w.key
	before := memoir.MapOf(w.parent.manifest.Inputs, func(in memory.Input) (string, string) { return in.Session, in.Hash })
	if !w.policy.builtin() {
		in.Current = memory.Snapshot{
			Generation: int(w.parent.number), Files: w.parent.files, Manifest: w.parent.manifest}.Consolidation()
		w.renumber(extractions)
		if in.Current != nil {
			_, in.HandEdits = consolidate.WithTeamEdits(*in.Current, w.edits, memory.Neutralise)
		}
	}
	slices.SortFunc(extractions, func(a, b memoir.Extraction) int { return cmp.Compare(a.SessionKey, b.SessionKey) })
	in.Extractions = extract.Later(extract.OfKnown(extractions))
	for _, e := range in.Extractions {
		if before[e.SessionKey] != e.ContentHash {
			in.Changed[e.SessionKey] = true
		}
		delete(before, e.SessionKey)
	}
	in.Withdrawn = slices.Sorted(maps.Keys(before))
	return in
}

// renumber gives an extraction the key that it has in the parent, or the next one if a statement of it was withdrawn
// since: then the lines that a model made of it go with the old key.
func (w *work) renumber(extractions []memoir.Extraction) {
	was, _ := memory.DecodeStatements(w.parent.files[memory.StatementsFile]) // no text of ours is damaged
	parents := map[string]memoir.Extraction{}
	for _, parent := range was {
		base, _ := memoir.ReceivedGroup(parent.SessionKey)
		parents[base] = parent
	}
	for i := range extractions {
		e := &extractions[i]
		parent, known := parents[e.SessionKey]
		lost := slices.ContainsFunc(parent.Statements, func(was memoir.Statement) bool {
			return !slices.ContainsFunc(e.Statements, func(is memoir.Statement) bool { return is.ID == was.ID })
		})
		for n, base := 0, e.SessionKey; known; n++ {
			e.SessionKey = memoir.Numbered(base, n)
			known = parent.SessionKey != e.SessionKey
			if !known && lost {
				e.SessionKey = memoir.Numbered(base, n+1)
			}
		}
	}
}

// nextGeneration makes the generation after the parent; nil if there is none to make. open says that sessions are left
// for another one.
func (h *Hub) nextGeneration(
	ctx context.Context, w *work, by consolidate.Consolidator,
) (next *generation, open bool, err error) {
	in := w.input
	var made memoir.Consolidation
	switch {
	case len(in.Extractions) > 0:
		made, err = by.Consolidate(ctx, in)
	case w.parent.number > 0: // all was withdrawn
		made = consolidate.OnlyHandEdits(in)
	default:
		return nil, false, nil
	}
	if err == nil {
		made, in.HandEdits = consolidate.WithTeamEdits(made, w.edits, memory.Neutralise)
		made = consolidate.ApplyHandEdits(made, consolidate.LiveHandEdits(in.HandEdits, in))
		err = consolidate.Verify(made, in)
	}
	if err != nil {
		return nil, false, err
	}
	next, err = h.pack(w, made)
	return next, len(made.Open) > 0, err
}

// pack makes the generation of a memory; nil if it has the files of the parent.
func (h *Hub) pack(w *work, made memoir.Consolidation) (next *generation, err error) {
	in := w.input
	beside, newest := memory.Files{}, slices.SortedStableFunc(slices.Values(in.Extractions),
		func(a, b memoir.Extraction) int { return b.EndedAt.Compare(a.EndedAt) })
	for i := range newest {
		newest[i].EndedAt = newest[i].EndedAt.Truncate(24 * time.Hour) // a withdrawal moves no other session
	}
	if len(newest) > 0 {
		beside[memory.StatementsFile] = memory.EncodeStatements(newest, memory.Neutralise)
	}
	var counts secrets.Counts
	files, err := memory.Layout(made, beside)
	if err == nil {
		files, counts, err = files.Redacted(h.scanner.Session())
	}
	if err != nil || w.parent.number > 0 && files.Equal(w.parent.files) {
		return nil, err
	}
	made = consolidate.WithOrigins(made, in)
	next = &generation{number: w.parent.number + 1, files: files}
	next.manifest = memory.Manifest{Inputs: w.inputsOf(made.Open), Redactions: counts, Citations: made.Citations,
		Anchors: made.Anchors, Lines: made.Lines, Edited: made.Edited}.Describing(int(next.number), files)
	next.archive, err = memory.Pack(files, next.manifest)
	if err == nil && len(next.archive) > wire.MaxArchive {
		err = memoir.Errorf(memoir.CodeInvalid, "", "the archive has %d bytes, more than %d",
			len(next.archive), wire.MaxArchive)
	}
	return next, err
}

// inputsOf returns the inputs of a generation. Of an open session it is what the parent has.
func (w *work) inputsOf(open []string) []memory.Input {
	inputs := []memory.Input{}
	for _, e := range w.input.Extractions {
		if !slices.Contains(open, e.SessionKey) {
			inputs = append(inputs, memory.Input{Session: e.SessionKey, Hash: e.ContentHash})
		}
	}
	for _, was := range w.parent.manifest.Inputs {
		if slices.Contains(open, was.Session) {
			inputs = append(inputs, was)
		}
	}
	return inputs
}

// publish publishes a generation, if the parent is still the newest, ends the job, and queues the next one if more was
// pushed since, all in one transaction. Without a generation it records what was read. The lock of the project makes a
// push wait, so that what it queues is not taken for the job that ends here.
func (h *Hub) publish(ctx context.Context, r *running, w *work, next *generation, model string, open bool) error {
	return h.asWorker(ctx, w.project, func(tx pgx.Tx) error {
		var seq int64
		b := &pgx.Batch{}
		b.Queue(`SELECT seq FROM memoir.project WHERE id = $1 FOR UPDATE`, w.project).QueryRow(into(&seq))
		if next != nil {
			queueGeneration(b, w, next, model)
		}
		b.Queue(`UPDATE memoir.project SET consumed = greatest(consumed, $2) WHERE id = $1`, w.project, w.seq)
		err := tx.SendBatch(ctx, b).Close()
		if err == nil {
			err = r.complete(ctx, tx)
		}
		if err == nil && (open || seq > w.seq) {
			err = h.queue(ctx, tx, consolidateArgs{w.project})
		}
		if err == nil && next != nil {
			err = h.queue(ctx, tx, purgeArgs{w.project})
		}
		return err
	})
}

func queueGeneration(b *pgx.Batch, w *work, next *generation, model string) {
	hash, state := sha256.Sum256(next.archive), "published"
	if w.policy.Review {
		state = "waiting"
	}
	b.Queue(`INSERT INTO memoir.archive (organisation, project, hash, body)
		VALUES (memoir.current_organisation(), $1, $2, $3) ON CONFLICT DO NOTHING`, w.project, hash[:], next.archive)
	b.Queue(`INSERT INTO memoir.generation (organisation, project, number, parent, seq, archive, model, state)
		VALUES (memoir.current_organisation(), $1, $2, $3, $4, $5, $6, $7::memoir.generation_state)
		ON CONFLICT (project, number) DO NOTHING`,
		w.project, next.number, w.parent.number, w.seq, hash[:], model, state).Exec(func(done pgconn.CommandTag) error {
		if done.RowsAffected() == 0 {
			return errOutrun
		}
		return nil
	})
}

// keptArchives is how many archives of a project stay, besides those that wait.
const keptArchives = 20

// purge deletes the archives of a project before the published one: the oldest, and those that may have a statement
// that was withdrawn since. The rows of their generations stay.
func (h *Hub) purge(ctx context.Context, r *running, args purgeArgs) error {
	return h.asWorker(ctx, args.Project, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		// Who publishes holds this lock, and queues no other purge beside this one.
		b.Queue(`SELECT FROM memoir.project WHERE id = $1 FOR UPDATE`, args.Project)
		b.Queue(`WITH live AS (SELECT number, seq FROM memoir.generation
				WHERE project = $1 AND state = 'published' ORDER BY number DESC LIMIT 1)
			UPDATE memoir.generation g SET archive = NULL FROM live
			WHERE g.project = $1 AND g.archive IS NOT NULL AND g.number < live.number AND (g.number <= live.number - $2
				OR EXISTS (SELECT FROM memoir.tombstone t WHERE t.project = $1 AND t.seq > g.seq AND t.seq <= live.seq))`,
			args.Project, keptArchives)
		b.Queue(`DELETE FROM memoir.archive a WHERE a.project = $1
			AND NOT EXISTS (SELECT FROM memoir.generation g WHERE g.project = $1 AND g.archive = a.hash)`, args.Project)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		return r.complete(ctx, tx)
	})
}
