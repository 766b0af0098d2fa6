package hub

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"memoir/team/wire"
)

// pull answers with a page of changes. It has at most as many as the limit, and about wire.MaxBytes. Most pulls find
// nothing new, and end with a query that is planned fast.
func (h *Hub) pull(r *http.Request, token string) (any, error) {
	query := r.URL.Query()
	project := query.Get("project")
	if err := wire.CheckProject(project); err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(wire.MaxPage)))
	if err != nil || limit < 1 || limit > wire.MaxPage {
		return nil, refuse(400, wire.CodeUsage, "limit is a number from 1 to "+strconv.Itoa(wire.MaxPage), "")
	}
	epoch, seq, err := parseCursor(wire.Cursor(query.Get("after")))
	if err != nil {
		return nil, err
	}
	c, err := h.callerOf(r.Context(), token, &project)
	if err == nil && c.newest == nil {
		err = refuse(403, wire.CodeForbidden, "you may not read this project", askOperator)
	}
	if err != nil {
		return nil, err
	}
	page, last, began := wire.Page{Items: []wire.Change{}}, *c.newest, c.epoch
	if began != epoch {
		seq = 0
	}
	if last > seq {
		c, err = h.asMember(r.Context(), token, func(b *pgx.Batch, hash []byte) {
			q := b.Queue(`SELECT * FROM memoir.changes($1, $2, $3, $4)`, hash, project, seq, limit+1)
			q.Query(func(rows pgx.Rows) (err error) {
				last, err = readChanges(rows, &page, limit)
				return err
			})
		})
		if err == nil && c.epoch != began {
			err = errors.New("a new epoch began during a pull")
		}
	}
	page.Epoch, page.Cursor = c.epoch, wire.Cursor(c.epoch+"."+strconv.FormatInt(last, 10))
	return page, err
}

// readChanges reads the changes of a page, and returns the number of the last one.
func readChanges(rows pgx.Rows, page *wire.Page, limit int) (last int64, err error) {
	var c wire.Change
	var newest, seq int64
	size := 0
	to := []any{&newest, &seq, &c.Member, &c.Gone, &c.Hash, &c.Session, &c.Own, &c.Day, &c.Body}
	_, err = pgx.ForEachRow(rows, to, func() error {
		page.More = page.More || len(page.Items) == limit || size > wire.MaxBytes
		if !page.More && seq > 0 {
			size += len(c.Body)
			page.Items, last = append(page.Items, c), seq
		}
		return nil
	})
	if !page.More {
		last = newest
	}
	return last, err
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
