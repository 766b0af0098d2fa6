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

	"github.com/tidwall/gjson"
)

const (
	maxValue   = 16 << 20 // bytes of a message's or a part's own JSON; a longer one is left out and counted
	fullRecord = 4 << 20  // a message whose parts exceed this goes on in another record
)

// opencodeStore is one session, in a database or in a tree of files.
type opencodeStore interface {
	// head is the first record: what is known of the session.
	head() ([]byte, error)
	// messages gives the messages in order, parts those of a message. An error ends
	// the reading; what is damaged or too long is a value that says so.
	messages() iter.Seq2[opencodeValue, error]
	parts(message string) iter.Seq2[opencodeValue, error]
	Close() error
}

// opencodeValue is the JSON of a message or a part, its id in it.
type opencodeValue struct {
	id   string
	data []byte // nil: it is no JSON object
	long bool   // more than maxValue
}

// newValue checks a value. Line breaks become blanks: a record is one line, so that
// damage in it ends where it ends.
func newValue(id string, data []byte) opencodeValue {
	data = bytes.TrimSpace(data)
	if !isObject(data) || !gjson.ValidBytes(data) {
		return opencodeValue{id: id}
	}
	for i, c := range data {
		if c == '\n' || c == '\r' {
			data[i] = ' '
		}
	}
	return opencodeValue{id: id, data: data}
}

// pieces streams a session's records: first its head, then its messages. Closing it
// closes the store.
type pieces struct {
	store     opencodeStore
	next      func() ([]byte, error, bool)
	stop      func()
	rest      []byte
	oversized int // values that were left out for their size
}

func openStore(s opencodeStore) (*pieces, error) {
	head, err := s.head()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	p := &pieces{store: s, rest: append(head, '\n')}
	p.next, p.stop = iter.Pull2(func(yield func([]byte, error) bool) {
		for m, err := range s.messages() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !p.message(m, yield) {
				return
			}
		}
	})
	return p, nil
}

// message gives the records of a message. A line that is no record stands for each
// value that is none, and is counted as such.
func (p *pieces) message(m opencodeValue, yield func([]byte, error) bool) bool {
	switch {
	case m.long:
		p.oversized++
		return true
	case m.data == nil:
		return yield([]byte("!\n"), nil)
	}
	var bad []byte
	record := func() []byte { return append(append([]byte(`{"info":`), m.data...), `,"parts":[`...) }
	out := record()
	empty := len(out)
	for v, err := range p.store.parts(m.id) {
		switch {
		case err != nil:
			yield(nil, err)
			return false
		case v.long:
			p.oversized++
			continue
		case v.data == nil:
			bad = append(bad, "!\n"...)
			continue
		case len(out)-empty > fullRecord:
			if !yield(append(out, "]}\n"...), nil) {
				return false
			}
			out = record()
		case len(out) > empty:
			out = append(out, ',')
		}
		out = append(out, v.data...)
	}
	return yield(append(append(out, "]}\n"...), bad...), nil)
}

// Read fails with io.EOF after the last record, else with the error that ended the reading.
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

// Close ends the stream, also before its end, and closes the store, whose error it returns.
func (p *pieces) Close() error {
	p.stop()
	return p.store.Close()
}

// openMember streams one session of a database.
func openMember(database, id string) (io.ReadCloser, error) {
	d, err := openDatabase(database)
	if err != nil {
		return nil, databaseError(database, err)
	}
	p, err := openStore(&opencodeRows{d, id})
	if err != nil {
		return nil, databaseError(memberPath(database, id), err)
	}
	return p, nil
}

// opencodeRows is one session of a database.
type opencodeRows struct {
	*opencodeDB
	id string
}

// head is the session's own row. What is too long for what it should be is left out.
func (d *opencodeRows) head() ([]byte, error) {
	short := func(column string) string {
		column = d.either("session", column, "NULL")
		return `CASE WHEN octet_length(` + column + `) <= 65536 THEN CAST(` + column + ` AS TEXT) END`
	}
	object := func(column string) string {
		return `CASE WHEN json_valid(` + short(column) + `) THEN json(` + short(column) + `) END`
	}
	number := func(column string) string { return `CAST(` + d.either("session", column, "NULL") + ` AS INTEGER)` }
	query := `SELECT json_object('info', json_object('id', s.id, 'title', ` + short("title") + `, 'directory', ` +
		short("directory") + `, 'parentID', ` + short("parent_id") + `, 'revert', ` + object("revert") +
		`, 'permission', ` + object("permission") + `, 'time', json_object('created', ` + number("time_created") +
		`, 'updated', ` + number("time_updated") + `)),
		'last', (SELECT CAST(max(` + d.either("message", "time_created", "NULL") + `) AS INTEGER)
			FROM message m WHERE m.session_id = s.id),
		'bytes', (SELECT coalesce(sum(octet_length(m.data)), 0) + coalesce(sum((SELECT sum(octet_length(p.data))
				FROM part p WHERE p.message_id = m.id)), 0)
			FROM message m WHERE m.session_id = s.id))
		FROM session s WHERE id = ?`
	var head []byte
	err := d.conn.QueryRowContext(context.Background(), query, d.id).Scan(&head)
	if errors.Is(err, sql.ErrNoRows) {
		err = fs.ErrNotExist
	}
	return head, err
}

// messages are in the order in which OpenCode shows them. After the last one it is
// known whether the database stayed as it was.
func (d *opencodeRows) messages() iter.Seq2[opencodeValue, error] {
	return func(yield func(opencodeValue, error) bool) {
		query := `FROM message m WHERE m.session_id = ? ORDER BY ` + d.either("message", "time_created", "m.id") + `, m.id`
		for v, err := range d.values(query, d.id) {
			if !yield(v, err) {
				return
			}
		}
		if err := d.unchanged(); err != nil {
			yield(opencodeValue{}, databaseError(d.path, err))
		}
	}
}

func (d *opencodeRows) parts(message string) iter.Seq2[opencodeValue, error] {
	return d.values(`FROM part WHERE message_id = ? ORDER BY id`, message)
}

// values are the JSON of rows, with the ids that stand beside it put in.
func (d *opencodeRows) values(from, key string) iter.Seq2[opencodeValue, error] {
	return func(yield func(opencodeValue, error) bool) {
		rows, err := d.conn.QueryContext(context.Background(), `SELECT coalesce(id, ''), octet_length(data) > ?1,
			CASE WHEN octet_length(data) <= ?1 THEN CAST(data AS BLOB) END `+from, maxValue, key)
		if err != nil {
			yield(opencodeValue{}, databaseError(d.path, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			var long sql.NullBool
			var data []byte
			if err := rows.Scan(&id, &long, &data); err != nil {
				yield(opencodeValue{}, databaseError(d.path, err))
				return
			}
			v := newValue(id, data)
			if v.long = long.Bool; v.data != nil {
				v.data = withID(id, v.data)
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(opencodeValue{}, databaseError(d.path, err))
		}
	}
}

// withID puts an id into an object.
func withID(id string, object []byte) []byte {
	quoted, err := json.Marshal(id)
	if err != nil { // no string fails
		return object
	}
	out := append([]byte(`{"id":`), quoted...)
	if i := blankEnd(object, 1); i < len(object) && object[i] != '}' {
		out = append(out, ',')
	}
	return append(out, object[1:]...)
}
