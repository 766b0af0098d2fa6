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

// OpenCode keeps many sessions in one database. Each gets a path (see memoir.File) and a stream of JSON records
// (see opencode.go), so that other code treats it like a file.

// busyTimeout is how long to wait for a locked database.
const busyTimeout = 500 * time.Millisecond

var sqliteMagic = []byte("SQLite format 3\x00")

// errOtherDatabase means that a database is not OpenCode's.
var errOtherDatabase = errors.New("it is not an OpenCode database")

// errChanged means that a database was written to although it seemed unused.
var errChanged = errors.New("it changed while it was read")

// isDatabase reports whether a file has the size and the first bytes of a SQLite database.
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

// isSidecar reports whether a file is one that SQLite keeps beside a database.
func isSidecar(path string) bool {
	for _, ending := range []string{"-wal", "-shm", "-journal"} {
		if database, ok := strings.CutSuffix(path, ending); ok {
			return hasMagic(database)
		}
	}
	return false
}

// opencodeDB is a database that is open for reading, in one snapshot. It writes neither to the database nor
// beside it, unless SQLite must rebuild the index of a write-ahead log after a crash.
type opencodeDB struct {
	real   string // the path without symbolic links
	db     *sql.DB
	tx     *sql.Tx
	frozen fs.FileInfo // the file when it was opened as immutable; nil if it was not
}

// openDatabase opens a database of OpenCode. An unused database in WAL mode is opened as immutable, because
// SQLite would otherwise create files beside it.
func openDatabase(path string) (*opencodeDB, error) {
	d, err := &opencodeDB{}, error(nil)
	if d.real, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	query := url.Values{"mode": {"ro"}, "_busy_timeout": {fmt.Sprint(busyTimeout.Milliseconds())}}
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
	// The schema is untrusted as well: no code in it may run.
	if _, err = d.tx.Exec("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON"); err == nil {
		err = d.checkSchema()
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// unusedLog returns the file information of a database in WAL mode without a log; nil for others.
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

// unchanged returns errChanged if the file was written to while it was open as immutable: then the data may be
// inconsistent.
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

// checkSchema returns errOtherDatabase if the tables are not OpenCode's, and another error if a column is missing
// that OpenCode 1.x writes.
func (d *opencodeDB) checkSchema() error {
	lacks := func(columns ...string) (missing string, err error) {
		err = d.tx.QueryRow(`SELECT coalesce(min(value), '') FROM json_each(?) WHERE value NOT IN (
			SELECT s.name || '.' || c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
			WHERE s.type = 'table' AND s.name IN ('session', 'message', 'part') AND s.sql NOT LIKE 'CREATE VIRTUAL%')`,
			`["`+strings.Join(columns, `","`)+`"]`).Scan(&missing)
		return missing, err
	}
	missing, err := lacks("session.id", "session.directory", "message.id", "message.session_id", "message.data",
		"part.id", "part.message_id", "part.data")
	if missing != "" {
		return errOtherDatabase
	}
	if err == nil {
		missing, err = lacks("session.parent_id", "session.title", "session.revert", "session.permission",
			"session.time_created", "session.time_updated", "message.time_created", "message.time_updated",
			"part.time_updated")
	}
	if missing != "" {
		return memoir.Errorf(memoir.CodeUnreadable, "start a current OpenCode once: it updates its database",
			"%s is a database of an OpenCode before 1.x: it has no column %s", d.real, missing)
	}
	return err
}

// opencodeSessions lists the sessions of a database in order of id. ok is false if the file is neither an
// OpenCode database nor one that SQLite keeps beside a database, which has no sessions. The error says why a
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

// statMember returns one session of a database; fs.ErrNotExist if it does not exist.
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

// listSessions lists sessions with a digest of each: of its row, of the number of its messages, and of the newest
// four with their parts. Older messages only change if messages are removed. Values are not read, since
// octet_length finds their lengths without reading them.
func listSessions(path, where string, args ...any) ([]memoir.File, error) {
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	newest := `SELECT m.id FROM message m WHERE m.session_id = s.id
		ORDER BY m.time_created DESC, m.id DESC LIMIT 4`
	rows, err := d.tx.Query(`SELECT s.id, CAST(s.time_updated AS INTEGER), octet_length(s.revert),
		(SELECT count(*) FROM message m WHERE m.session_id = s.id),
		(SELECT format('%d/%d/%d', count(*), max(m.time_updated), sum(octet_length(m.data)))
			FROM message m WHERE m.id IN (`+newest+`)),
		(SELECT format('%d/%d/%d', coalesce(sum(octet_length(p.data)), 0), count(*), max(p.time_updated))
			FROM part p WHERE p.message_id IN (`+newest+`))
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

// memberPath returns the path of a session in a database. An id that is not legal in a path is escaped as in a URL.
func memberPath(database, id string) string {
	if !legalID.MatchString(id) {
		id = url.PathEscape(id)
	}
	return database + "#" + id
}
