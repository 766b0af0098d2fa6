package rollout

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	"github.com/tidwall/gjson"

	"memoir"
)

const (
	patience    = 500 * time.Millisecond // how long a locked database is waited for
	longPiece   = 8 << 20                // of a long value this much is asked for at a time; SQLite reads all of it each time
	maxRowValue = 64 << 20               // a longer one is left out: SQLite would hold it whole
	newestRows  = 4                      // messages whose parts a look at a session looks at
)

var sqliteMagic = []byte("SQLite format 3\x00")

// errOtherDatabase means that a database is not OpenCode's.
var errOtherDatabase = errors.New("it is not a database of OpenCode")

// errChanged means that a database was written to although nobody seemed to use it.
var errChanged = errors.New("it changed while it was read")

// mayBeSQLite looks at a file's first bytes if its size is one that a database has.
func mayBeSQLite(path string, info fs.FileInfo) bool {
	return info.Size() > 0 && info.Size()%512 == 0 && hasMagic(path)
}

func hasMagic(path string) bool {
	f, err := openFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [16]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && bytes.Equal(b[:], sqliteMagic)
}

// isSidecar reports that a file is one of those that SQLite keeps beside a
// database: never a session.
func isSidecar(path string) bool {
	for _, ending := range []string{"-wal", "-shm", "-journal"} {
		if database, ok := strings.CutSuffix(path, ending); ok {
			return hasMagic(database)
		}
	}
	return false
}

// opencodeDB is a database open for reading, in one snapshot. It never writes,
// neither to the database nor beside it unless SQLite must rebuild the index of a
// write-ahead log that a crash left.
type opencodeDB struct {
	path    string
	real    string // without symbolic links
	db      *sql.DB
	conn    *sql.Conn
	columns map[string]bool // of the table session
	frozen  fs.FileInfo     // the file as it was, where SQLite takes it for one that nobody writes to
}

// openDatabase opens a database of OpenCode. A database in WAL mode that nobody
// uses is read as an immutable file: otherwise SQLite would create files beside it.
func openDatabase(path string) (*opencodeDB, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	d := &opencodeDB{path: path, real: real}
	query := url.Values{"mode": {"ro"}, "_busy_timeout": {fmt.Sprint(patience.Milliseconds())}}
	unused, info, err := unusedLog(real)
	if err != nil {
		return nil, err
	}
	if unused {
		d.frozen = info
		query.Set("immutable", "1")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(real), RawQuery: query.Encode(), OmitHost: true}
	if d.db, err = sql.Open("sqlite3", dsn.String()); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if d.conn, err = d.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	// The schema is foreign too: nothing in it may run.
	for _, statement := range []string{"PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "BEGIN"} {
		if _, err = d.conn.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	if err = d.readSchema(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// unusedLog reports that a database is in WAL mode and has no log.
func unusedLog(path string) (bool, fs.FileInfo, error) {
	f, err := openFile(path)
	if err != nil {
		return false, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, nil, err
	}
	var b [20]byte
	if _, err := io.ReadFull(f, b[:]); err != nil || b[19] != 2 {
		return false, info, nil
	}
	wal, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return true, info, nil
	}
	if err != nil {
		return false, nil, err
	}
	_, err = os.Stat(path + "-shm")
	return wal.Size() == 0 && errors.Is(err, fs.ErrNotExist), info, nil
}

func (d *opencodeDB) close() error {
	return errors.Join(d.conn.Close(), d.db.Close())
}

// unchanged is errChanged if the file was written to while it was taken for one
// that nobody writes to: then what was read may be a mixture.
func (d *opencodeDB) unchanged() error {
	if d.frozen == nil {
		return nil
	}
	info, err := os.Stat(d.real)
	if err != nil || info.Size() != d.frozen.Size() || !info.ModTime().Equal(d.frozen.ModTime()) {
		return errChanged
	}
	return nil
}

// readSchema checks that the tables are OpenCode's.
func (d *opencodeDB) readSchema(ctx context.Context) error {
	need := map[string][]string{
		"session": {"id", "directory", "title", "time_created", "time_updated"},
		"message": {"id", "session_id", "time_created", "time_updated", "data"},
		"part":    {"id", "message_id", "time_updated", "data"},
	}
	rows, err := d.conn.QueryContext(ctx, `SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
		WHERE s.type = 'table' AND s.name IN ('session', 'message', 'part') AND s.sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := map[string]map[string]bool{"session": {}, "message": {}, "part": {}}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		found[table][column] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for table, columns := range need {
		for _, column := range columns {
			if !found[table][column] {
				return errOtherDatabase
			}
		}
	}
	d.columns = found["session"]
	return nil
}

// either is a column of the table session, or a value instead where an earlier
// version had none.
func (d *opencodeDB) either(column, value string) string {
	if d.columns[column] {
		return column
	}
	return value
}

// listDatabase lists a database's sessions in order of id.
func listDatabase(path string) (files []memoir.File, ok bool, err error) {
	for range 3 {
		if files, err = list(path, ""); !errors.Is(err, errChanged) {
			break
		}
	}
	if errors.Is(err, errOtherDatabase) {
		return nil, false, nil
	}
	return files, true, databaseError(path, err)
}

// statMember looks at one session of a database.
func statMember(database, id string) (memoir.File, error) {
	files, err := list(database, id)
	switch {
	case err != nil:
		return memoir.File{}, databaseError(database, err)
	case len(files) == 0:
		return memoir.File{}, &fs.PathError{Op: "stat", Path: memberPath(database, id), Err: fs.ErrNotExist}
	}
	return files[0], nil
}

// list looks at all sessions, or at one: at its own row, at how many messages it
// has, and at the newest of them with their parts. Older ones do not change, unless
// messages are taken away. Parts are not read: octet_length knows a value's length
// without it.
func list(path, id string) ([]memoir.File, error) {
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer d.close()
	newest := fmt.Sprintf(`SELECT id FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT %d`, newestRows)
	query := `SELECT s.id, CAST(s.time_updated AS INTEGER), coalesce(octet_length(` + d.either("revert", "''") + `), 0),
		(SELECT count(*) FROM message m WHERE m.session_id = s.id),
		(SELECT format('%d/%d/%d', count(*), max(m.time_updated), total(octet_length(m.data))) FROM message m WHERE m.id IN (` + newest + `)),
		(SELECT format('%d/%d', count(*), max(p.time_updated)) FROM part p WHERE p.message_id IN (` + newest + `)),
		(SELECT coalesce(sum(octet_length(p.data)), 0) FROM part p WHERE p.message_id IN (` + newest + `))
		FROM session s WHERE ? IN ('', s.id) ORDER BY s.id`
	if id != "" {
		query = strings.Replace(query, "? IN ('', s.id)", "s.id = ?", 1)
	}
	rows, err := d.conn.QueryContext(context.Background(), query, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var files []memoir.File
	for rows.Next() {
		var name, messages, parts string
		var updated, revert, count, bytes sql.NullInt64
		if err := rows.Scan(&name, &updated, &revert, &count, &messages, &parts, &bytes); err != nil {
			return nil, err
		}
		digest := fnv.New64a()
		fmt.Fprint(digest, updated.Int64, revert.Int64, count.Int64, messages, parts, bytes.Int64)
		files = append(files, memoir.File{Path: memberPath(path, name), Size: bytes.Int64,
			ModTime: time.UnixMilli(updated.Int64), Inode: digest.Sum64() >> 1})
	}
	return files, errors.Join(rows.Err(), d.unchanged())
}

func databaseError(path string, err error) error {
	switch {
	case err == nil, memoir.CodeOf(err) == memoir.CodeUnreadable:
		return err
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return openError(path, err)
	case strings.Contains(err.Error(), "database is locked"), errors.Is(err, errChanged):
		return memoir.Errorf(memoir.CodeUnreadable, "run memoir again later", "read OpenCode's database %s: %w", path, err)
	case strings.Contains(err.Error(), "unable to open database file"):
		return memoir.Errorf(memoir.CodeUnreadable, "copy it and its -wal file to a directory of your own, and read that",
			"read OpenCode's database %s: its write-ahead log cannot be used here: %w", path, err)
	}
	return memoir.Errorf(memoir.CodeUnreadable, "`sqlite3 FILE .recover` may help", "read OpenCode's database %s: %w", path, err)
}

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
	query := `SELECT ` + short("title") + `, ` + short("directory") + `, ` + short(d.either("parent_id", "NULL")) + `,
		` + short(d.either("version", "NULL")) + `, ` + short(d.either("revert", "NULL")) + `, ` + short(d.either("permission", "NULL")) + `,
		CAST(time_created AS INTEGER), CAST(time_updated AS INTEGER), CAST(` + d.either("time_archived", "NULL") + ` AS INTEGER),
		(SELECT CAST(max(time_created) AS INTEGER) FROM message WHERE session_id = s.id),
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
	rows, err := d.conn.QueryContext(context.Background(), `SELECT id, coalesce(octet_length(data), 0),
		CASE WHEN octet_length(data) <= ? THEN CAST(data AS BLOB) END
		FROM message WHERE session_id = ? ORDER BY time_created, id`, wholePiece, id)
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
	rows, err := d.conn.QueryContext(context.Background(), `SELECT id, coalesce(octet_length(data), 0),
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
