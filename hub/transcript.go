package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"path"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"
	"github.com/riverqueue/river"
	"golang.org/x/sync/semaphore"

	"memoir"
	"memoir/extract"
	"memoir/model"
	"memoir/team/wire"
)

// sent takes the transcript of a session whose machine does not extract.
func (h *Hub) sent(r *http.Request, token string) (any, error) {
	// Only a member's transcript is read and scanned, which takes time and memory.
	c, err := h.callerOf(r.Context(), token, nil)
	if err != nil {
		return nil, err
	}
	room, _ := h.rooms.LoadOrStore(c.member, semaphore.NewWeighted(wire.MaxBytes)) // half of what all have
	var t wire.Transcript
	release, err := admit(r, &t, room.(*semaphore.Weighted), transcriptBytes)
	if err != nil {
		return nil, err
	}
	defer release()
	if now := time.Now(); t.Ended.After(now) { // a clock may be ahead
		t.Ended = now
	}
	if !word.MatchString(string(t.Source)) {
		return nil, refuse(400, wire.CodeUsage, "the source is no name of an agent", "")
	}
	if err := h.scan(wire.Push{Project: t.Project}); err != nil {
		return nil, err
	}
	items, redacted, err := h.cleanItems(t.Items)
	if err != nil {
		return nil, err
	}
	done := accepted{told: told{expires: c.expires}}
	err = h.keep(r.Context(), token, t, items, redacted, &done)
	return done, err
}

// accepted is the answer to a transcript.
type accepted struct {
	wire.Accepted
	told
}

// word matches names of agents, and kinds, roles and origins of items.
var word = regexp.MustCompile(`^[a-z_-]{1,30}$`)

// Their errors are of invalid options.
var (
	packing, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	unpacking, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(8*wire.MaxBytes))
)

// maxSecrets bounds the secrets in a transcript, since each is searched for in all of its texts.
const maxSecrets = 1 << 14

// cleanItems returns the items without secrets and without what is not known here, as they are stored, and how many
// secrets it removed.
func (h *Hub) cleanItems(sent json.RawMessage) (stored []byte, redacted int, err error) {
	var items []memoir.Item
	if json.Unmarshal(sent, &items) != nil || len(items) == 0 {
		return nil, 0, refuse(400, wire.CodeUsage, "there are no items, or not as the JSON that is wanted here", "")
	}
	last := 0
	items = slices.DeleteFunc(items, func(it memoir.Item) bool {
		known := it.N > last && word.MatchString(it.Kind) && word.MatchString(it.Role) && word.MatchString(string(it.Origin))
		last = max(last, it.N)
		return !known
	})
	r := h.scanner.Session()
	for i := range items {
		if items[i] = r.Item(items[i]); r.Secrets() > maxSecrets {
			return nil, 0, refuse(413, wire.CodeTooLarge, "the session has too many secrets", "")
		}
	}
	for i := range items { // a later item may show what is a secret
		items[i] = r.Again(items[i])
	}
	text, err := json.Marshal(items)
	if err != nil {
		return nil, 0, err
	}
	for _, n := range r.Counts() {
		redacted += n
	}
	return packing.EncodeAll(text, nil), redacted, nil
}

// keep stores a transcript with the job that extracts it, and fills in whether it is new and until when a limit holds.
func (h *Hub) keep(
	ctx context.Context, token string, t wire.Transcript, items []byte, redacted int, done *accepted,
) error {
	ctx, cancel := context.WithTimeout(ctx, patience) // that of the body is over
	defer cancel()
	var id int64
	var limited *time.Time
	var erased string
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		_, err := asMemberIn(ctx, tx, token, func(b *pgx.Batch, hash []byte) {
			queueProject(b, hash, t.Project)
			b.Queue(`SELECT project FROM `+reached, hash, t.Project).QueryRow(intoReached(new(int64)))
			b.Queue(`SELECT e.session FROM `+reached+` t JOIN memoir.erased e ON e.member = t.member WHERE e.session = $3`,
				hash, t.Project, t.Session).QueryRow(into(&erased))
			// A session is as it was before a transcript that is done.
			b.Queue(`UPDATE memoir.transcript o SET state = 'waiting', items = $4, redacted = $5, ended = $6, sent = now()
				FROM `+reached+` t WHERE o.project = t.project AND o.member = t.member AND o.hash = decode($3, 'hex')
					AND o.state = 'done' AND EXISTS (SELECT FROM memoir.transcript l WHERE l.project = o.project
						AND l.member = o.member AND l.session = o.session AND l.sent > o.sent AND l.ended <= $6) RETURNING o.id`,
				hash, t.Project, t.Hash(), items, redacted, t.Ended.UTC()).QueryRow(into(&id))
			b.Queue(`INSERT INTO memoir.transcript
					(organisation, project, member, machine, hash, session, source, ended, items, redacted)
				SELECT t.organisation, t.project, t.member, m.id, decode($3, 'hex'), $4, $5, $6, $7, $8
				FROM `+reached+` t JOIN memoir.token m ON m.hash = $1
				ON CONFLICT (project, hash) DO NOTHING RETURNING id`,
				hash, t.Project, t.Hash(), t.Session, string(t.Source), t.Ended.UTC(), items, redacted).
				QueryRow(into(&id))
			b.Queue(limitedUntil, hash, t.Project).QueryRow(into(&limited))
		})
		if err == nil && erased != "" {
			err = refuse(400, wire.CodeUsage, "the hub has erased this session with the member that sent it",
				"a member with another name can send it")
		}
		if err == nil && id != 0 {
			err = h.queue(ctx, tx, extractArgs{id})
		}
		return err
	})
	done.New, done.limited = id != 0, *cmp.Or(limited, &time.Time{})
	return err
}

// waiting is a transcript that is to be extracted.
type waiting struct {
	id, organisation, project, member int64
	session, source                   string
	ended                             time.Time
	items                             []byte
	may                               bool // the member may still push
	later                             bool // a later transcript of the session is done
	policy                            Policy
}

// begin locks a transcript and lets the transaction act as its member; ok is false if it is done.
func (w *waiting) begin(ctx context.Context, tx pgx.Tx) (ok bool, err error) {
	err = tx.QueryRow(ctx, `SELECT organisation, project, member, session, source, ended, items, may, later
		FROM memoir.extract($1)`, w.id).Scan(&w.organisation, &w.project, &w.member, &w.session, &w.source, &w.ended,
		&w.items, &w.may, &w.later)
	if err == nil {
		w.policy, err = policyOf(ctx, tx, w.organisation)
	}
	return err == nil, orNone(err, nil)
}

// extract makes statements of a transcript, as a push of its member, and deletes the items, in the transaction that
// ends the job. Of two workers at once, the second finds it done then. A transcript that cannot be read fails once.
func (h *Hub) extract(ctx context.Context, r *running, args extractArgs) error {
	w, ok := waiting{id: args.Transcript}, false
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) (err error) {
		ok, err = w.begin(ctx, tx)
		return err
	})
	if err != nil || !ok {
		return err
	}
	r.of = w.project
	m, err := h.modelOf(ctx, w.policy, w.project)
	if err != nil {
		return err
	}
	var e memoir.Extraction
	state, why := "done", ""
	if w.may && !w.later {
		err = caught(func() (err error) {
			e, err = h.extractionOf(ctx, w, m)
			return err
		})
	}
	switch {
	case ctx.Err() != nil || pauseOf(err) > 0: // the model is away, or the limit of the day is reached
		return cmp.Or(err, context.Cause(ctx))
	case err != nil:
		state, why = "failed", h.scanner.Message(err.Error())
	case !w.may:
		state, why = "failed", "the member may not push to this project any more"
	}
	return pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		ok, err := w.begin(ctx, tx)
		if ok && state == "done" && w.may && !w.later {
			err = h.replace(ctx, tx, w, e)
		}
		if ok && err == nil {
			_, err = tx.Exec(ctx, `UPDATE memoir.transcript SET items = NULL, state = $2::memoir.transcript_state, error = $3
				WHERE id = $1`, w.id, state, why)
		}
		if err == nil {
			err = r.complete(ctx, tx)
		}
		return err
	})
}

// top stands for the directory of the project, which paths in items are relative to.
const top = "/memoir.project"

// extractionOf returns what a transcript shows; it is empty if that is nothing.
func (h *Hub) extractionOf(ctx context.Context, w waiting, m model.Model) (e memoir.Extraction, err error) {
	var items []memoir.Item
	text, err := unpacking.DecodeAll(w.items, nil)
	if err == nil {
		err = json.Unmarshal(text, &items)
	}
	if err != nil {
		return e, memoir.Errorf(memoir.CodeInvalid, "", "read the items: %w", err)
	}
	if len(items) == 0 {
		return e, nil
	}
	for i := range items {
		if items[i].CWD != "" && !path.IsAbs(items[i].CWD) {
			items[i].CWD = path.Join(top, items[i].CWD)
		}
	}
	e, err = h.extraction(ctx, w.project, m, extract.Input{Items: items, Session: memoir.Session{ID: w.session,
		Source: memoir.Source(w.source), CWD: top, CreatedAt: items[0].At, UpdatedAt: w.ended}})
	if err != nil || e.Empty() {
		return memoir.Extraction{}, err
	}
	e, _ = h.scanner.Extraction(e)
	extract.Anchors(e, top, items, nil)
	return e, nil
}

var inTop = regexp.MustCompile(regexp.QuoteMeta(top) + `/?`)

// extraction is made by the organisation's model, unless that is nil. If its answers are of no use, the built-in one
// makes it.
func (h *Hub) extraction(
	ctx context.Context, project int64, m model.Model, in extract.Input,
) (e memoir.Extraction, err error) {
	if m != nil {
		e, err = extract.LLM{Model: m, MaxOutput: outputTokens}.Extract(ctx, in)
		if err == nil {
			extract.Date(e.Statements, in.Items, in.Session.UpdatedAt)
			err = extract.Check(e, in.Items)
		}
		if err == nil || ctx.Err() != nil || pauseOf(err) > 0 {
			return e, err
		}
		reason := "the built-in model extracted, since the other one failed: " + h.scanner.Message(err.Error())
		h.log.Warn(reason)
		if err := cmp.Or(river.MetadataSet(ctx, "fallback", reason), river.MetadataSet(ctx, "project", project)); err != nil {
			return e, err
		}
	}
	return extract.NewBuiltin().Extract(ctx, in)
}

// secretOf names the rule that finds a secret in a statement.
func (h *Hub) secretOf(st memoir.Statement) string {
	text, _ := json.Marshal(st) // of plain fields
	return h.secretIn(text)
}

// replace stores the statements of a transcript, and withdraws those of an earlier one of the session that it lacks.
// What one before has withdrawn so is sent under another hash. Nobody is a person's own machine here, so what a person
// said goes to nobody.
func (h *Hub) replace(ctx context.Context, tx pgx.Tx, w waiting, e memoir.Extraction) error {
	_, err := tx.Exec(ctx, `SELECT FROM memoir.project WHERE id = $1 FOR NO KEY UPDATE`, w.project) // others wait
	leaving := wire.Leaving{Session: w.session, Secret: h.secretOf,
		Relative: func(text string) string { return inTop.ReplaceAllString(text, "") }}
	of := func(taken map[string]bool) []wire.Statement {
		out, _ := leaving.Of(e, taken)
		return slices.DeleteFunc(out, func(s wire.Statement) bool { return s.Own })
	}
	var statements []wire.Statement
	var hashes []string
	taken := map[string]bool{}
	for n := -1; err == nil && n < len(taken); {
		n, statements = len(taken), of(taken)
		hashes = memoir.Map(statements, func(s wire.Statement) string { return s.Hash })
		rows, _ := tx.Query(ctx, `SELECT encode(hash, 'hex') FROM memoir.tombstone WHERE organisation = $1 AND project = $2
			AND member = $3 AND replaced AND hash IN (SELECT decode(h, 'hex') FROM unnest($4::text[]) h)`,
			w.organisation, w.project, w.member, hashes)
		var found []string
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		for _, hash := range found {
			taken[hash] = true
		}
	}
	if err != nil {
		return err
	}
	changed, b := 0, &pgx.Batch{}
	b.Queue(`WITH gone AS (DELETE FROM memoir.statement
			WHERE organisation = $1 AND project = $2 AND member = $3 AND session = $4 AND NOT own
				AND hash NOT IN (SELECT decode(h, 'hex') FROM unnest($5::text[]) h) RETURNING *),
		raised AS (UPDATE memoir.project SET seq = seq + (SELECT count(*) FROM gone)
			WHERE organisation = $1 AND id = $2 RETURNING seq)
		INSERT INTO memoir.tombstone (organisation, project, member, hash, seq, replaced)
		SELECT organisation, project, member, hash, raised.seq + 1 - row_number() OVER (ORDER BY hash), true
		FROM gone, raised`, w.organisation, w.project, w.member, w.session, hashes).Exec(counting(&changed))
	b.Queue(`UPDATE memoir.project SET seq = seq + $3 WHERE organisation = $1 AND id = $2`,
		w.organisation, w.project, len(statements))
	queueStatements(b, whose{`(SELECT organisation, id AS project, $2::bigint AS member, seq AS newest
		FROM memoir.project WHERE id = $1::bigint)`, w.project, w.member}, statements, 0, counting(&changed))
	err = tx.SendBatch(ctx, b).Close()
	if err == nil && changed > 0 {
		err = h.queue(ctx, tx, consolidateArgs{w.project})
	}
	return err
}
