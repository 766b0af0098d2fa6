package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir"
	"memoir/memory"
	"memoir/team/wire"
)

// archived is the answer to a request for an archive; without a body, the caller has it.
type archived struct {
	number int64
	hash   []byte
	body   []byte
	told
}

// told is what headers of an answer say to the caller.
type told struct {
	waiting int64     // the newest generation that the caller may accept; 0: none
	expires time.Time // when the token ends; zero: nobody says
	limited time.Time // until when work on the project waits for a spending limit; zero: none does
}

func (t told) say(w http.ResponseWriter) {
	if t.waiting > 0 {
		w.Header().Set(wire.WaitingHeader, strconv.FormatInt(t.waiting, 10))
	}
	if !t.expires.IsZero() {
		w.Header().Set(wire.ExpiresHeader, t.expires.UTC().Format(time.RFC3339))
	}
	if !t.limited.IsZero() {
		w.Header().Set(wire.LimitedHeader, t.limited.UTC().Format(time.RFC3339))
	}
}

// limitedUntil queries until when work on the project $2 waits for a spending limit, for who has the token $1.
const limitedUntil = `SELECT max(j.scheduled_at) FROM memoir.reach($1, $2, 'reader') t JOIN river.river_job j
	ON j.state = 'scheduled' AND (j.metadata->>'limited')::bigint = t.project`

// archive answers with the newest published generation of a project, or with the newest one that waits.
func (h *Hub) archive(r *http.Request, token string) (any, error) {
	key, unaccepted := r.URL.Query().Get("project"), r.URL.Query().Has("waiting")
	if err := wire.CheckProject(key); err != nil {
		return nil, err
	}
	tag := strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/")
	known, _ := hex.DecodeString(strings.Trim(tag, `"`)) // of another form, it is not known
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var c caller
	var a archived
	var readable bool
	var limited *time.Time
	err := h.pool.QueryRow(ctx, `SELECT coalesce(a.machine, 0), coalesce(live, false), coalesce(revoked, false),
			coalesce(readable, false), coalesce(number, 0), hash, body, coalesce(waits, 0),
			coalesce((SELECT t.expires FROM memoir.token t WHERE t.id = a.machine), now()),
			CASE WHEN a.readable THEN (`+limitedUntil+`) END
		FROM memoir.archive_of($1, $2, $3, $4) a`, hashOf(token), key, known, unaccepted).
		Scan(&c.machine, &c.live, &c.revoked, &readable, &a.number, &a.hash, &a.body, &a.waiting, &a.expires, &limited)
	a.limited = *cmp.Or(limited, &time.Time{})
	switch err = cmp.Or(err, c.refused()); {
	case err != nil:
		return nil, err
	case !readable && unaccepted:
		return nil, refuse(403, wire.CodeForbidden, onlyAdmins, askOperator)
	case !readable:
		return nil, refuse(403, wire.CodeForbidden, "you may not read this project", askOperator)
	case a.number == 0 && unaccepted:
		return nil, refuse(404, wire.CodeNotFound, "no generation of this project waits", "")
	case a.number == 0:
		none := refuse(404, wire.CodeNotFound, "the hub has made no memory of this project yet", "")
		none.told = a.told
		return nil, none
	}
	return a, nil
}

// write writes the answer, and returns its status.
func (a archived) write(w http.ResponseWriter) int {
	head := w.Header()
	head.Set(wire.VersionHeader, strconv.Itoa(wire.Version))
	head.Set(wire.GenerationHeader, strconv.FormatInt(a.number, 10))
	head.Set("ETag", `"`+hex.EncodeToString(a.hash)+`"`)
	head.Set("Cache-Control", "private, no-cache")
	head.Set("X-Content-Type-Options", "nosniff")
	status := http.StatusNotModified
	if a.body != nil {
		status = http.StatusOK
		head.Set("Content-Type", wire.ArchiveType)
		head.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(a.body)
	return status
}

// accept publishes a generation that waits, if it is as it was shown.
func (h *Hub) accept(r *http.Request, token string) (any, error) {
	var a wire.Accept
	if err := readBody(r, maxJoin, &a); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	return nil, pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		var allowed bool
		var id int64
		_, err := asMemberIn(ctx, tx, token, func(b *pgx.Batch, hash []byte) {
			h.queueAddress(b, r)
			b.Queue(`SELECT allowed, coalesce(project, 0) FROM memoir.accept($1, $2, $3, decode($4, 'hex'), $5)`,
				hash, a.Project, a.Generation, a.Hash, a.Published).QueryRow(into(&allowed, &id))
		})
		switch {
		case err != nil:
			return err
		case !allowed:
			return refuse(403, wire.CodeForbidden, onlyAdmins, askOperator)
		case id == 0:
			return refuse(404, wire.CodeNotFound, "the generation does not wait any more as it was shown", "look at it again")
		}
		return h.queue(ctx, tx, purgeArgs{id})
	})
}

const onlyAdmins = "only an admin of this project may accept its generations"

// Generations lists the generations of a project, the newest first.
func (a Admin) Generations(ctx context.Context, key string) (t Table, err error) {
	org, err := a.organisation(ctx, a.hub.pool)
	if err == nil {
		_, err = projectOf(ctx, a.hub.pool, org, key, false)
	}
	if err != nil {
		return t, err
	}
	return a.table(ctx, `SELECT g.number, CASE WHEN g.state = 'waiting' AND g.number NOT IN
			(SELECT w.number FROM memoir.waiting(g.project) w WHERE w.number > 0)
			THEN 'outdated' ELSE g.state::text END AS state, g.model, g.seq, g.made,
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

// Accept publishes a generation that waits for a review, by the rule of members: one with what was withdrawn since, or
// before the published one, is an error of code memoir.CodeNotFound.
func (a Admin) Accept(ctx context.Context, key string, number int64) error {
	return a.do(ctx, "generation accept", key+" "+strconv.FormatInt(number, 10), func(tx pgx.Tx, org int64) error {
		id, err := projectOf(ctx, tx, org, key, false)
		if err == nil {
			_, err = tx.Exec(ctx, `SELECT FROM memoir.project WHERE id = $1 FOR NO KEY UPDATE`, id) // as memoir.accept does
		}
		if err == nil {
			err = orNone(tx.QueryRow(ctx, `UPDATE memoir.generation g SET state = 'published' FROM memoir.waiting($1) w
				WHERE g.project = $1 AND g.number = $2 AND w.number = $2 RETURNING g.project`, id, number).Scan(&id),
				memoir.Errorf(memoir.CodeNotFound, listGenerations,
					"generation %d of %q does not wait, or has what was withdrawn since", number, key))
		}
		if err == nil {
			err = a.hub.queue(ctx, tx, purgeArgs{id})
		}
		return err
	})
}

const listGenerations = "`memoir-hub generation list PROJECT` lists them"

func noGeneration(key string, number int64) error {
	return memoir.Errorf(memoir.CodeNotFound, listGenerations, "%q has no generation %d with an archive", key, number)
}
