package rollout

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"memoir"
)

// patience is how long a locked database is waited for.
const patience = 500 * time.Millisecond

var sqliteMagic = []byte("SQLite format 3\x00")

// errOtherDatabase means that a database is not OpenCode's.
var errOtherDatabase = errors.New("it is not a database of OpenCode")

// errChanged means that a database was written to although nobody seemed to use it.
var errChanged = errors.New("it changed while it was read")

// isDatabase looks at a file's first bytes if its size is one that a database has.
func isDatabase(path string, info fs.FileInfo) bool {
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
	columns map[string]map[string]bool // of the tables, by name
	frozen  fs.FileInfo                // the file as it was, where SQLite takes it for one that nobody writes to
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
	if d.frozen, err = unusedLog(real); err != nil {
		return nil, err
	}
	if d.frozen != nil {
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
			return nil, errors.Join(err, d.Close())
		}
	}
	if err = d.readSchema(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// unusedLog describes a database that is in WAL mode and has no log; nil for others.
func unusedLog(path string) (fs.FileInfo, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b [20]byte
	if _, err := io.ReadFull(f, b[:]); err != nil || b[19] != 2 {
		return nil, nil
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return f.Stat()
}

// Close ends the snapshot.
func (d *opencodeDB) Close() error {
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

// readSchema checks that the tables are OpenCode's: what a session cannot be read
// without must be there, other columns have come and go with versions.
func (d *opencodeDB) readSchema(ctx context.Context) error {
	need := map[string][]string{
		"session": {"id", "directory"},
		"message": {"id", "session_id", "data"},
		"part":    {"id", "message_id", "data"},
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
	d.columns = found
	return nil
}

// either is a column of a table, or a value instead where a version has none. The
// name is qualified by the table's first letter, its alias in all queries.
func (d *opencodeDB) either(table, column, value string) string {
	if d.columns[table][column] {
		return table[:1] + "." + column
	}
	return value
}

// newestRows is how many messages a look at a session looks at, with their parts.
const newestRows = 4

// listDatabase lists a database's sessions in order of id.
func listDatabase(path string) (files []memoir.File, ok bool, err error) {
	files, err = list(path, "")
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
	defer d.Close()
	newest := fmt.Sprintf(`SELECT m.id FROM message m WHERE m.session_id = s.id ORDER BY %s DESC, m.id DESC LIMIT %d`,
		d.either("message", "time_created", "m.id"), newestRows)
	query := `SELECT s.id, CAST(` + d.either("session", "time_updated",
		"NULL") + ` AS INTEGER), coalesce(octet_length(` + d.either("session", "revert", "''") + `), 0),
		(SELECT count(*) FROM message m WHERE m.session_id = s.id),
		(SELECT format('%d/%d/%d', count(*), max(` + d.either("message", "time_updated", "0") + `),
			sum(octet_length(m.data))) FROM message m WHERE m.id IN (` + newest + `)),
		(SELECT format('%d/%d/%d', coalesce(sum(octet_length(p.data)), 0), count(*),
			max(` + d.either("part", "time_updated", "0") + `)) FROM part p WHERE p.message_id IN (` + newest + `))
		FROM session s WHERE ? IN ('', s.id) AND s.id > '' ORDER BY s.id`
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
		var updated, revert, count sql.NullInt64
		if err := rows.Scan(&name, &updated, &revert, &count, &messages, &parts); err != nil {
			return nil, err
		}
		digest := fnv.New64a()
		fmt.Fprintln(digest, updated.Int64, revert.Int64, count.Int64, messages, parts)
		length, _ := leadingInt(parts) // of the newest parts together
		files = append(files, memoir.File{Path: memberPath(path, name), Size: int64(length),
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
	return memoir.Errorf(memoir.CodeUnreadable, "`sqlite3 FILE .recover` may help", "read OpenCode's database %s: %w",
		path, err)
}
