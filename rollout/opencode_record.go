package rollout

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// jsonValue is the JSON of a message or a part, as a row or a file holds it.
type jsonValue struct {
	id     string                   // to be put into it, where it is kept beside it; "" if it is inside
	whole  []byte                   // nil if it is too long to be held
	pieces iter.Seq2[[]byte, error] // of a long one
}

// recordWriter puts values together to records, one a line.
type recordWriter struct {
	yield func([]byte, error) bool
	ended bool // nobody wants more, or there was an error
}

func (w *recordWriter) put(b []byte) {
	if !w.ended && len(b) > 0 {
		w.ended = !w.yield(b, nil)
	}
}

func (w *recordWriter) fail(err error) {
	if !w.ended {
		w.yield(nil, err)
		w.ended = true
	}
}

// message writes a message: its info, and the parts for which the loop over them
// calls the given function until that says no. A value that is no object is left
// out; a line that is no record stands for it, and is counted as such.
func (w *recordWriter) message(info jsonValue, parts func(part func(jsonValue) bool)) {
	if !info.fits() {
		w.put([]byte("!\n"))
		return
	}
	var held, inRecord, bad int
	begin := func() {
		w.put([]byte(`{"info":`))
		w.value(info)
		w.put([]byte(`,"parts":[`))
	}
	begin()
	parts(func(v jsonValue) bool {
		switch {
		case !v.fits():
			bad++
			return !w.ended
		case held > fullRecord && info.whole != nil:
			w.put([]byte("]}\n"))
			begin()
			held, inRecord = 0, 0
		case inRecord > 0:
			w.put([]byte(","))
		}
		inRecord++
		held += w.value(v)
		return !w.ended
	})
	w.put([]byte("]}\n"))
	w.put(bytes.Repeat([]byte("!\n"), bad))
}

// fits reports whether a value can be put into a record without harm to it. Long
// ones are found out by whoever reads the record.
func (v jsonValue) fits() bool {
	return v.pieces != nil || isObject(bytes.TrimLeft(v.whole, " \t\r\n")) && gjson.ValidBytes(v.whole)
}

// value writes a value on one line and says how long it was.
func (w *recordWriter) value(v jsonValue) (size int) {
	pieces := v.pieces
	if pieces == nil {
		pieces = func(yield func([]byte, error) bool) { yield(bytes.Clone(v.whole), nil) }
	}
	first := true
	for piece, err := range pieces {
		if err != nil {
			w.fail(err)
			return size
		}
		piece = onOneLine(piece)
		size += len(piece)
		if first && v.id != "" {
			if i := bytes.IndexByte(piece, '{'); i >= 0 {
				w.put(withID(v.id, piece[i+1:]))
				piece = piece[i+1:]
			}
		}
		first = false
		w.put(piece)
		if w.ended {
			return size
		}
	}
	return size
}

// withID begins an object with an id; rest is what follows its brace.
func withID(id string, rest []byte) []byte {
	quoted, err := json.Marshal(id)
	if err != nil { // no string fails
		return []byte("{")
	}
	out := append([]byte(`{"id":`), quoted...)
	if i := blankEnd(rest, 0); i < len(rest) && rest[i] != '}' {
		out = append(out, ',')
	}
	return out
}

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
	or := func(table, column string) string { return d.either(table, column, "NULL") }
	number := func(column string) string { return `CAST(` + or("session", column) + ` AS INTEGER)` }
	query := `SELECT ` + strings.Join([]string{
		short(or("session", "title")), short("s.directory"), short(or("session", "parent_id")),
		short(or("session", "version")), short(or("session", "revert")), short(or("session", "permission")),
		number("time_created"), number("time_updated"), number("time_archived"),
	}, ", ") + `,
		(SELECT CAST(max(` + or("message", "time_created") + `) AS INTEGER) FROM message m WHERE m.session_id = s.id),
		(SELECT coalesce(sum(octet_length(m.data)), 0) + coalesce(sum((SELECT sum(octet_length(p.data))
				FROM part p WHERE p.message_id = m.id)), 0)
			FROM message m WHERE m.session_id = s.id)
		FROM session s WHERE id = ?`
	err := d.conn.QueryRowContext(context.Background(), query, id).Scan(&title, &directory, &parent, &version, &revert,
		&permission,
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
			err := d.conn.QueryRowContext(context.Background(),
				`SELECT substr(CAST(data AS BLOB), ?, ?) FROM `+table+` WHERE id = ?`,
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

const (
	wholePiece = 1 << 20   // a value up to this is held whole, and checked before it is put into a record
	pieceSize  = 256 << 10 // of longer ones, this much is held at a time
	fullRecord = 4 << 20   // a message whose parts exceed this goes on in another record
)

// pieces streams records that are put together while they are read, from rows of
// a database or from many files. Reader cuts and checks them as it does a file's.
type pieces struct {
	next func() ([]byte, error, bool)
	stop func()
	rest []byte

	oversized int          // values that were left out for their size
	onClose   func() error // also where seq never began
}

// newPieces streams what seq gives, up to its first error. Closing the stream ends
// seq, which must then let go of what it holds.
func newPieces(seq iter.Seq2[[]byte, error]) *pieces {
	p := &pieces{}
	p.next, p.stop = iter.Pull2(seq)
	return p
}

// Read fails with io.EOF where the pieces end, else with the error of the piece that is next.
func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		piece, err, ok := p.next()
		if !ok {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		p.rest = piece
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Close ends seq, also before its end. The error is that of onClose.
func (p *pieces) Close() error {
	p.stop()
	if p.onClose != nil {
		return p.onClose()
	}
	return nil
}

// onOneLine replaces the line breaks of a printed value, in place: a record is one
// line, so that damage in it ends where it ends.
func onOneLine(raw []byte) []byte {
	for i := bytes.IndexAny(raw, "\r\n"); i < len(raw) && i >= 0; i++ {
		if raw[i] == '\n' || raw[i] == '\r' {
			raw[i] = ' '
		}
	}
	return raw
}
