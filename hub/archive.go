package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"memoir"
	"memoir/memory"
	"memoir/team/wire"
)

// archived is the answer to a request for an archive; without a body, the caller has it.
type archived struct {
	number  int64
	hash    []byte
	body    []byte
	waiting int64 // the newest generation that the caller may accept
}

// archive answers with the newest published generation of a project.
func (h *Hub) archive(r *http.Request, token string) (any, error) {
	key := r.URL.Query().Get("project")
	if err := wire.CheckProject(key); err != nil {
		return nil, refuse(400, wire.CodeUsage, err.Error(), "")
	}
	tag := strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/")
	known, _ := hex.DecodeString(strings.Trim(tag, `"`)) // of another form, it is not known
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var c caller
	var a archived
	var readable bool
	err := h.pool.QueryRow(ctx, `SELECT coalesce(machine, 0), coalesce(live, false), coalesce(revoked, false),
			coalesce(readable, false), coalesce(number, 0), hash, body, coalesce(newest, 0)
		FROM memoir.newest_archive($1, $2, $3) a
		LEFT JOIN LATERAL (SELECT max(w.number) AS newest FROM memoir.waiting($1, $2) w WHERE a.readable) w ON true`,
		hashOf(token), key, known).
		Scan(&c.machine, &c.live, &c.revoked, &readable, &a.number, &a.hash, &a.body, &a.waiting)
	switch err = cmp.Or(err, c.refused()); {
	case err != nil:
		return nil, err
	case !readable:
		return nil, refuse(403, wire.CodeForbidden, "you may not read this project", askOperator)
	case a.number == 0:
		none := refuse(404, wire.CodeNotFound, "the hub has made no memory of this project yet", "")
		none.waiting = a.waiting
		return nil, none
	}
	return a, nil
}

// sayWaiting tells who may accept a generation that one waits.
func sayWaiting(w http.ResponseWriter, number int64) {
	if number > 0 {
		w.Header().Set(wire.WaitingHeader, strconv.FormatInt(number, 10))
	}
}

// write writes the answer, and returns its status.
func (a archived) write(w http.ResponseWriter) int {
	head := w.Header()
	head.Set(wire.VersionHeader, strconv.Itoa(wire.Version))
	head.Set(wire.GenerationHeader, strconv.FormatInt(a.number, 10))
	sayWaiting(w, a.waiting)
	head.Set("ETag", `"`+hex.EncodeToString(a.hash)+`"`)
	head.Set("Cache-Control", "private, no-cache")
	head.Set("X-Content-Type-Options", "nosniff")
	if a.body == nil {
		w.WriteHeader(http.StatusNotModified)
		return http.StatusNotModified
	}
	head.Set("Content-Type", wire.ArchiveType)
	head.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(a.body)
	return http.StatusOK
}

// notAdmin refuses who may not accept generations.
func notAdmin() *refusal {
	return refuse(403, wire.CodeForbidden, "only an admin of this project may accept its generations", askOperator)
}

// waiting answers with a generation that the member may accept, and how it differs from the published one.
func (h *Hub) waiting(r *http.Request, token string) (any, error) {
	query := r.URL.Query()
	out := wire.Waiting{Accept: wire.Accept{Project: query.Get("project")}, Waiting: []int64{}, Diffs: []string{}}
	if err := wire.CheckProject(out.Project); err != nil {
		return nil, refuse(400, wire.CodeUsage, err.Error(), "")
	}
	wanted, err := strconv.ParseInt(cmp.Or(query.Get("generation"), "0"), 10, 64)
	if err != nil {
		return nil, refuse(400, wire.CodeUsage, "generation is a number", "")
	}
	var was, is []byte
	_, err = h.asMember(r.Context(), token, entry{}, func(b *pgx.Batch, hash []byte) {
		b.Queue(`SELECT w.published, array_remove(array_agg(w.number ORDER BY w.number DESC), NULL)
			FROM memoir.waiting($1, $2) w GROUP BY w.published`, hash, out.Project).QueryRow(func(row pgx.Row) error {
			return orRefuse(row.Scan(&out.Published, &out.Waiting), notAdmin())
		})
		b.Queue(`SELECT w.number, encode(w.archive, 'hex'), w.model, w.made, a.body, p.body
			FROM memoir.waiting($1, $2) w JOIN memoir.archive a
				ON a.organisation = w.organisation AND a.project = w.project AND a.hash = w.archive
			LEFT JOIN memoir.generation g ON g.organisation = w.organisation AND g.project = w.project
				AND g.number = w.published AND g.state = 'published'
			LEFT JOIN memoir.archive p ON p.organisation = w.organisation AND p.project = w.project AND p.hash = g.archive
			WHERE $3::bigint IN (0, w.number) ORDER BY w.number DESC LIMIT 1`, hash, out.Project, wanted).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&out.Generation, &out.Hash, &out.Model, &out.Made, &is, &was},
				func() error { return nil })
			return err
		})
	})
	switch {
	case err != nil:
		return nil, err
	case out.Generation > 0:
		out.Diffs, err = diffs(was, is)
	case wanted > 0:
		err = refuse(404, wire.CodeNotFound, "no such generation waits", "")
	}
	return out, err
}

// orRefuse returns a refusal in the place of pgx.ErrNoRows.
func orRefuse(err error, r *refusal) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return r
	}
	return err
}

// diffs compares what machines keep of two archives; without the first, all is new.
func diffs(was, is []byte) (out []string, err error) {
	var before, after memory.Files
	if was != nil {
		before, _, err = memory.Unpack(bytes.NewReader(was))
	}
	if err == nil {
		after, _, err = memory.Unpack(bytes.NewReader(is))
	}
	out = []string{}
	for _, c := range memory.Changes(before, after) {
		if _, _, _, skill := memoir.SkillPath(c.Path); skill || c.Path == memoir.MemoryFile {
			out = append(out, c.Text)
		}
	}
	return out, err
}

// accept publishes a generation that waits, if what it was compared with has not changed. The lock of the project makes
// two that accept, and a worker that publishes, do so one after the other.
func (h *Hub) accept(r *http.Request, token string) (any, error) {
	var a wire.Accept
	r.Body = http.MaxBytesReader(nil, r.Body, 4<<10)
	err := readBody(r, &a)
	if err == nil && (wire.CheckProject(a.Project) != nil || !wire.IsHex(a.Hash, wire.HashDigits)) {
		err = refuse(400, wire.CodeUsage, "this names no generation of a project", "")
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	return nil, pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		var id int64
		_, err := asMemberIn(ctx, tx, token, entry{hold: true}, func(b *pgx.Batch, hash []byte) {
			b.Queue(`SELECT FROM memoir.reach($1, $2, 'admin')`, hash, a.Project).QueryRow(func(row pgx.Row) error {
				return orRefuse(row.Scan(), notAdmin())
			})
			b.Queue(`SELECT FROM memoir.project p JOIN memoir.reach($1, $2, 'admin') t
				ON p.organisation = t.organisation AND p.id = t.project FOR NO KEY UPDATE OF p`, hash, a.Project)
			b.Queue(callers+`, accepted AS (UPDATE memoir.generation g SET state = 'published'
					FROM memoir.waiting($1, $2) w WHERE g.organisation = w.organisation AND g.project = w.project
						AND g.number = w.number AND w.number = $3 AND w.archive = decode($4, 'hex') AND w.published = $5
					RETURNING g.project),
				noted AS (INSERT INTO memoir.audit (organisation, member, machine, action, detail)
					SELECT organisation, member, machine, 'generation accept', $2 || ' ' || $3 FROM caller, accepted)
				SELECT project FROM accepted`, hash, a.Project, a.Generation, a.Hash, a.Published).
				QueryRow(func(row pgx.Row) error {
					return orRefuse(row.Scan(&id), refuse(404, wire.CodeNotFound,
						"the generation does not wait any more as it was shown", "look at it again"))
				})
		})
		if err == nil {
			err = h.queue(ctx, tx, purgeArgs{id})
		}
		return err
	})
}

// Generations lists the generations of a project, the newest first.
func (a Admin) Generations(ctx context.Context, key string) (Table, error) {
	return a.table(ctx, `SELECT g.number, g.state::text AS state, g.model, g.seq, g.made,
			coalesce(octet_length(a.body), 0) AS bytes
		FROM memoir.project p JOIN memoir.generation g ON g.project = coalesce(p.alias_of, p.id)
		LEFT JOIN memoir.archive a ON a.project = g.project AND a.hash = g.archive
		WHERE p.organisation = $1 AND p.key = $2 ORDER BY g.number DESC`, key)
}

// Show returns the MEMORY.md of a generation.
func (a Admin) Show(ctx context.Context, key string, number int64) (text string, err error) {
	found, err := a.table(ctx, `SELECT a.body FROM memoir.project p
		JOIN memoir.generation g ON g.project = coalesce(p.alias_of, p.id)
		JOIN memoir.archive a ON a.project = g.project AND a.hash = g.archive
		WHERE p.organisation = $1 AND p.key = $2 AND g.number = $3`, key, number)
	if err == nil && len(found.Rows) == 0 {
		err = noGeneration(key, number)
	}
	if err != nil {
		return "", err
	}
	files, _, err := memory.Unpack(bytes.NewReader(found.Rows[0][0].([]byte)))
	return string(files[memoir.MemoryFile]), err
}

// Accept publishes a generation that waits for a review.
func (a Admin) Accept(ctx context.Context, key string, number int64) error {
	return a.do(ctx, "generation accept", key+" "+strconv.FormatInt(number, 10), func(tx pgx.Tx, org int64) error {
		var id int64
		err := tx.QueryRow(ctx, `UPDATE memoir.generation g SET state = 'published' FROM memoir.project p
			WHERE p.organisation = $1 AND p.key = $2 AND g.project = coalesce(p.alias_of, p.id) AND g.number = $3
				AND g.archive IS NOT NULL RETURNING g.project`, org, key, number).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return noGeneration(key, number)
		}
		if err == nil {
			err = a.hub.queue(ctx, tx, purgeArgs{id})
		}
		return err
	})
}

func noGeneration(key string, number int64) error {
	return memoir.Errorf(memoir.CodeNotFound, "`memoir-hub generation list PROJECT` lists them",
		"%q has no generation %d with an archive", key, number)
}
