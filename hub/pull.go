package hub

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir/team/wire"
)

// pulled is the SQL of a pull: a row for each change, at least one if the member may read the project. The project's
// number is of the same snapshot as the changes, so a page that is not full ends there, and what is somebody's own is
// not passed over again. A project that nobody has pushed to yet is empty, for who may read every project.
const pulled = callers + `, target AS (
		SELECT c.organisation, c.member, p.id AS project, coalesce(p.seq, 0) AS last,
			CASE WHEN $3 = (SELECT epoch FROM memoir.hub) THEN $4::bigint ELSE 0 END AS after
		FROM caller c
		LEFT JOIN memoir.project k ON k.organisation = c.organisation AND k.key = $2
		LEFT JOIN memoir.project p ON p.organisation = c.organisation AND p.id = coalesce(k.alias_of, k.id)
		WHERE EXISTS (SELECT FROM memoir.access a WHERE a.organisation = c.organisation AND a.member = c.member
			AND (a.project IS NULL OR a.project = p.id))
	)
	SELECT t.last, i.seq, m.name, i.gone, i.hash, i.session, i.own, i.day, i.body
	FROM target t
	LEFT JOIN LATERAL (
		(SELECT s.seq, s.member, false AS gone, s.hash, s.session, s.own, s.day, s.body::text
			FROM memoir.statement s
			WHERE s.organisation = t.organisation AND s.project = t.project AND s.seq > t.after
				AND (NOT s.own OR s.member = t.member)
			ORDER BY s.seq LIMIT $5)
		UNION ALL
		(SELECT g.seq, g.member, true, g.hash, NULL, NULL, NULL, NULL
			FROM memoir.tombstone g
			WHERE g.organisation = t.organisation AND g.project = t.project AND g.seq > t.after
			ORDER BY g.seq LIMIT $5)
		ORDER BY seq LIMIT $5
	) i ON true
	LEFT JOIN memoir.member m ON m.organisation = t.organisation AND m.id = i.member
	ORDER BY i.seq`

// pull answers with a page of changes. It has at most p.Limit changes, and about wire.MaxBytes.
func (h *Hub) pull(ctx context.Context, token string, p wire.Pull) (wire.Page, error) {
	epoch, seq, err := parseCursor(p.After)
	if err != nil {
		return wire.Page{}, err
	}
	page := wire.Page{Items: []wire.Change{}}
	var last int64
	c, err := h.asMember(ctx, token, func(b *pgx.Batch, hash []byte) {
		b.Queue(pulled, hash, p.Project, epoch, seq, p.Limit+1).Query(func(rows pgx.Rows) (err error) {
			page.Items, last, page.More, err = readChanges(rows, p.Limit)
			return err
		})
	})
	page.Epoch, page.Cursor = c.epoch, wire.Cursor(c.epoch+"."+strconv.FormatInt(last, 10))
	return page, err
}

// readChanges returns the changes of a page, the number of the last one, and whether there are more.
func readChanges(rows pgx.Rows, limit int) (items []wire.Change, last int64, more bool, err error) {
	items = []wire.Change{}
	allowed, size, newest := false, 0, int64(0)
	for rows.Next() && !more {
		var seq *int64
		var member, session, body *string
		var gone, own *bool
		var hash []byte
		var day *time.Time
		if err := rows.Scan(&newest, &seq, &member, &gone, &hash, &session, &own, &day, &body); err != nil {
			return nil, 0, false, err
		}
		allowed = true
		if seq == nil {
			break
		}
		if more = len(items) == limit || size > wire.MaxBytes; more {
			break
		}
		change := wire.Change{Member: *member, Gone: *gone}
		change.Hash = hex.EncodeToString(hash)
		if !*gone {
			change.Session, change.Own, change.Day = *session, *own, day.Format(time.DateOnly)
			change.Body = json.RawMessage(*body)
			size += len(*body)
		}
		items, last = append(items, change), *seq
	}
	rows.Close()
	if rows.Err() == nil && !allowed {
		return nil, 0, false, refuse(403, wire.CodeForbidden, "you may not read this project", askOperator)
	}
	if !more {
		last = newest
	}
	return items, last, more, rows.Err()
}

// parseCursor returns the two parts of a cursor; of an empty one, nothing and 0.
func parseCursor(c wire.Cursor) (epoch string, seq int64, err error) {
	if c == "" {
		return "", 0, nil
	}
	epoch, number, _ := strings.Cut(string(c), ".")
	if seq, err = strconv.ParseInt(number, 10, 64); err != nil || seq < 0 || len(epoch) > 64 {
		return "", 0, refuse(400, wire.CodeUsage, "this is no cursor", "pull without one")
	}
	return epoch, seq, nil
}
