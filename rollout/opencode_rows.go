package rollout

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/tidwall/gjson"
)

const (
	longPiece   = 8 << 20  // of a long value this much is asked for at a time; SQLite reads all of it each time
	maxRowValue = 64 << 20 // a longer one is left out: SQLite would hold it whole
)

// openMember streams one session of a database.
func openMember(database, id string) (io.ReadCloser, error) {
	d, err := openDatabase(database)
	if err != nil {
		return nil, databaseError(database, err)
	}
	head, err := d.head(id)
	if err != nil {
		return nil, databaseError(memberPath(database, id), errors.Join(err, d.close()))
	}
	var p *pieces
	p = newPieces(func(yield func([]byte, error) bool) {
		w := &recordWriter{yield: yield}
		w.put(head)
		d.messages(w, id, &p.oversized)
		if err := d.unchanged(); err != nil {
			w.fail(databaseError(database, err))
		}
	})
	p.onClose = d.close
	return p, nil
}

// head is the record of a session's own row.
func (d *opencodeDB) head(id string) ([]byte, error) {
	var (
		title, directory, parent, version, revert, permission sql.NullString
		created, updated, archived, last, bytes               sql.NullInt64
	)
	short := func(column string) string { // what is longer is no such thing
		return `CASE WHEN octet_length(` + column + `) <= 65536 THEN ` + column + ` END`
	}
	query := `SELECT ` + short(d.either("session", "title", "NULL")) + `, ` + short("s.directory") + `, ` + short(d.either("session", "parent_id", "NULL")) + `,
		` + short(d.either("session", "version", "NULL")) + `, ` + short(d.either("session", "revert", "NULL")) + `, ` + short(d.either("session", "permission", "NULL")) + `,
		CAST(` + d.either("session", "time_created", "NULL") + ` AS INTEGER), CAST(` + d.either("session", "time_updated", "NULL") + ` AS INTEGER),
		CAST(` + d.either("session", "time_archived", "NULL") + ` AS INTEGER),
		(SELECT CAST(max(` + d.either("message", "time_created", "NULL") + `) AS INTEGER) FROM message m WHERE m.session_id = s.id),
		(SELECT coalesce(sum(octet_length(m.data)), 0) + coalesce(sum((SELECT sum(octet_length(p.data)) FROM part p WHERE p.message_id = m.id)), 0)
			FROM message m WHERE m.session_id = s.id)
		FROM session s WHERE id = ?`
	err := d.conn.QueryRowContext(context.Background(), query, id).Scan(&title, &directory, &parent, &version, &revert, &permission,
		&created, &updated, &archived, &last, &bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	record := map[string]any{"info": map[string]any{
		"id": id, "title": title.String, "directory": directory.String, "parentID": parent.String, "version": version.String,
		"revert": rawJSON(revert.String), "permission": rawJSON(permission.String),
		"time": map[string]int64{"created": created.Int64, "updated": updated.Int64, "archived": archived.Int64},
	}, "last": last.Int64, "bytes": bytes.Int64}
	line, err := json.Marshal(record)
	return append(line, '\n'), err
}

// rawJSON is a text that is JSON, or null.
func rawJSON(text string) json.RawMessage {
	if !gjson.Valid(text) {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// messages writes a session's messages, in the order in which OpenCode shows them.
func (d *opencodeDB) messages(w *recordWriter, id string, oversized *int) {
	rows, err := d.conn.QueryContext(context.Background(), `SELECT coalesce(m.id, ''), coalesce(octet_length(m.data), 0),
		CASE WHEN octet_length(m.data) <= ? THEN CAST(m.data AS BLOB) END
		FROM message m WHERE m.session_id = ? ORDER BY `+d.either("message", "time_created", "m.id")+`, m.id`, wholePiece, id)
	if err != nil {
		w.fail(databaseError(d.path, err))
		return
	}
	defer rows.Close()
	for !w.ended && rows.Next() {
		info, err := d.scan(rows, "message")
		if err != nil {
			w.fail(databaseError(d.path, err))
			return
		}
		if info == nil {
			*oversized++
			continue
		}
		w.message(*info, func(part func(jsonValue) bool) {
			if err := d.parts(info.id, part, oversized); err != nil {
				w.fail(databaseError(d.path, err))
			}
		})
	}
	if err := rows.Err(); err != nil {
		w.fail(databaseError(d.path, err))
	}
}

func (d *opencodeDB) parts(message string, part func(jsonValue) bool, oversized *int) error {
	rows, err := d.conn.QueryContext(context.Background(), `SELECT coalesce(id, ''), coalesce(octet_length(data), 0),
		CASE WHEN octet_length(data) <= ? THEN CAST(data AS BLOB) END
		FROM part WHERE message_id = ? ORDER BY id`, wholePiece, message)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := d.scan(rows, "part")
		if err != nil {
			return err
		}
		if v == nil {
			*oversized++
		} else if !part(*v) {
			return nil
		}
	}
	return rows.Err()
}

// scan reads a row of a message or a part; nil if its value is too long.
func (d *opencodeDB) scan(rows *sql.Rows, table string) (*jsonValue, error) {
	var v jsonValue
	var size int64
	if err := rows.Scan(&v.id, &size, &v.whole); err != nil {
		return nil, err
	}
	if size > maxRowValue {
		return nil, nil
	}
	if size > wholePiece {
		v.whole, v.pieces = nil, d.long(table, v.id, size)
	}
	return &v, nil
}

// long gives a long value in pieces.
func (d *opencodeDB) long(table, id string, size int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for from := int64(0); from < size; from += longPiece {
			var piece []byte
			err := d.conn.QueryRowContext(context.Background(), `SELECT substr(CAST(data AS BLOB), ?, ?) FROM `+table+` WHERE id = ?`,
				from+1, longPiece, id).Scan(&piece)
			if err != nil {
				yield(nil, err)
				return
			}
			for p := range slices.Chunk(piece, pieceSize) {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}
