package rollout

import (
	"bytes"
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

// OpenCode keeps many sessions in a database. Each has a path of its own nevertheless
// (see memoir.File), and its records come as a stream of JSON values (see
// opencode_record.go), so that all else treats it like a file.

// patience is how long a locked database is waited for.
const patience = 500 * time.Millisecond

var sqliteMagic = []byte("SQLite format 3\x00")

// errOtherDatabase means that a database is not OpenCode's.
var errOtherDatabase = errors.New("it is not an OpenCode database")

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
	b := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(f, b)
	return err == nil && bytes.Equal(b, sqliteMagic)
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
	real    string // the path without symbolic links
	db      *sql.DB
	tx      *sql.Tx
	columns map[string]bool // of the tables, each after the first letter of its table and a dot
	frozen  fs.FileInfo     // the file as it was, where SQLite takes it for one that nobody writes to
}

// openDatabase opens a database of OpenCode. A database in WAL mode that nobody
// uses is read as an immutable file: otherwise SQLite would create files beside it.
func openDatabase(path string) (*opencodeDB, error) {
	d := &opencodeDB{columns: map[string]bool{}}
	var err error
	if d.real, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	query := url.Values{"mode": {"ro"}, "_busy_timeout": {fmt.Sprint(patience.Milliseconds())}}
	if d.frozen, err = unusedLog(d.real); err != nil {
		return nil, err
	}
	if d.frozen != nil {
		query.Set("immutable", "1")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(d.real), RawQuery: query.Encode(), OmitHost: true}
	if d.db, err = sql.Open("sqlite3", dsn.String()); err != nil {
		return nil, err
	}
	if d.tx, err = d.db.Begin(); err != nil {
		return nil, errors.Join(err, d.db.Close())
	}
	// The schema is foreign too: nothing in it may run.
	if _, err = d.tx.Exec("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON"); err == nil {
		err = d.readSchema()
	}
	if err != nil {
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
	return errors.Join(d.tx.Rollback(), d.db.Close())
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
func (d *opencodeDB) readSchema() error {
	rows, err := d.tx.Query(`SELECT substr(s.name, 1, 1) || '.' || c.name FROM sqlite_schema s
		JOIN pragma_table_info(s.name) c WHERE s.type = 'table' AND s.name IN ('session', 'message', 'part')
		AND s.sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			return err
		}
		d.columns[column] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, column := range []string{"s.id", "s.directory", "m.id", "m.session_id", "m.data", "p.id", "p.message_id",
		"p.data"} {
		if !d.columns[column] {
			return errOtherDatabase
		}
	}
	return nil
}

// either is a column, after its table's alias, or a value instead where a version has none.
func (d *opencodeDB) either(column, value string) string {
	if d.columns[column] {
		return column
	}
	return value
}

// opencodeSessions lists the sessions of a database in order of id; none of a file that
// SQLite keeps beside one. It is not ok with any other file. The error says why a
// database cannot be listed.
func opencodeSessions(path string, info fs.FileInfo) (sessions []memoir.File, ok bool, err error) {
	if isSidecar(path) {
		return nil, true, nil
	}
	if !isDatabase(path, info) {
		return nil, false, nil
	}
	sessions, err = listSessions(path, "s.id > ''")
	if errors.Is(err, errOtherDatabase) {
		return nil, false, nil
	}
	return sessions, true, databaseError(path, err)
}

// statMember looks at one session of a database. The error is fs.ErrNotExist for one
// that is gone.
func statMember(database, id string) (memoir.File, error) {
	files, err := listSessions(database, "s.id = ?", id)
	switch {
	case err != nil:
		return memoir.File{}, databaseError(database, err)
	case len(files) == 0:
		return memoir.File{}, &fs.PathError{Op: "stat", Path: memberPath(database, id), Err: fs.ErrNotExist}
	}
	return files[0], nil
}

// listSessions looks at sessions: at the row of each, at how many messages it has, and
// at the newest four of them with their parts. Older ones do not change, unless messages
// are taken away. Parts are not read: octet_length knows a value's length without it.
func listSessions(path, where string, args ...any) ([]memoir.File, error) {
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	newest := `SELECT m.id FROM message m WHERE m.session_id = s.id
		ORDER BY ` + d.either("m.time_created", "m.id") + ` DESC, m.id DESC LIMIT 4`
	rows, err := d.tx.Query(`SELECT s.id, CAST(`+d.either("s.time_updated", "NULL")+` AS INTEGER),
		octet_length(`+d.either("s.revert", "''")+`), (SELECT count(*) FROM message m WHERE m.session_id = s.id),
		(SELECT format('%d/%d/%d', count(*), max(`+d.either("m.time_updated", "0")+`), sum(octet_length(m.data)))
			FROM message m WHERE m.id IN (`+newest+`)),
		(SELECT format('%d/%d/%d', coalesce(sum(octet_length(p.data)), 0), count(*),
			max(`+d.either("p.time_updated", "0")+`)) FROM part p WHERE p.message_id IN (`+newest+`))
		FROM session s WHERE `+where+` ORDER BY s.id`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var files []memoir.File
	for rows.Next() {
		var id, messages, parts string
		var updated, revert, count sql.NullInt64
		if err := rows.Scan(&id, &updated, &revert, &count, &messages, &parts); err != nil {
			return nil, err
		}
		digest := fnv.New64a()
		fmt.Fprintln(digest, updated.Int64, revert.Int64, count.Int64, messages, parts)
		length, _ := leadingInt(parts) // of the newest parts together
		files = append(files, memoir.File{Path: memberPath(path, id), Size: int64(length),
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

// memberPath is the path of a session inside a database. An id that could not be
// part of a path is escaped as in a URL.
func memberPath(database, id string) string {
	if !legalID.MatchString(id) {
		id = url.PathEscape(id)
	}
	return database + "#" + id
}
