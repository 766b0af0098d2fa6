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
	"memoir/internal/lazyregexp"
)

// OpenCode keeps many sessions in one database. Each gets a path (see memoir.File) and a stream of JSON records
// (see opencode.go), so that other code treats it like a file.

// busyTimeout is how long to wait for a locked database.
const busyTimeout = 500 * time.Millisecond

var sqliteMagic = []byte("SQLite format 3\x00")

// errOtherDatabase means that a database is not OpenCode's.
var errOtherDatabase = errors.New("it is not an OpenCode database")

// errLater means that a database has tables of a generation that memoir does not know beside those that it knows.
var errLater = errors.New("sessions in it are not read")

// unknownStore is the error of a store, in the place of an agent's sessions, whose form is not known.
func unknownStore(path, what string) error {
	return memoir.Errorf(memoir.CodeUnreadable, "a later memoir may read it", "%s %s: sessions in it are not read", path,
		what)
}

const unknownSchema = "is a database with an unknown schema"

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
	frozen fs.FileInfo     // the file when it was opened as immutable; nil if it was not
	has    map[string]bool // tables and columns, as table.column
	later  string          // a table of a later generation, "" if there is none
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

// readSchema finds the tables and their columns.
func (d *opencodeDB) readSchema() error {
	rows, err := d.tx.Query(`SELECT s.name, s.name || '.' || c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
		WHERE s.type = 'table' AND s.sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	d.has = map[string]bool{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		if d.has[table], d.has[column] = true, true; laterTable.MatchString(table) && table != "session_v2" {
			d.later = table
		}
	}
	return rows.Err()
}

// checkSchema returns errOtherDatabase if the tables are not OpenCode's, and another error if a column is missing.
func (d *opencodeDB) checkSchema() error {
	if err := d.readSchema(); err != nil {
		return err
	}
	has := d.has
	lacks := func(columns string) string {
		for column := range strings.FieldsSeq(columns) {
			if table, _, _ := strings.Cut(column, "."); !has[column] && has[table] {
				return column
			}
		}
		return ""
	}
	first := has["session"] && has["message"] && has["part"] && lacks(firstColumns) == ""
	second := has["session_message"] && (has["session_v2"] || has["session"]) && lacks(secondColumns) == ""
	missing := lacks(otherColumns)
	switch {
	case !first && !second && d.later != "":
		return unknownStore(d.real, unknownSchema)
	case !first && !second:
		return errOtherDatabase
	case missing != "":
		return memoir.Errorf(memoir.CodeUnreadable, "start a current OpenCode once: it updates its database",
			"%s is a database of an OpenCode that memoir does not know: it has no column %s", d.real, missing)
	}
	return nil
}

// firstColumns and secondColumns tell a database of OpenCode 1 or 2 from those of other programs; otherColumns are read
// as well. laterTable matches the tables of later generations.
const (
	firstColumns = "session.id session.directory message.id message.session_id message.data part.id part.message_id" +
		" part.data"
	secondColumns = "session_v2.id session_v2.directory session.id session.directory session_message.id" +
		" session_message.session_id session_message.type session_message.data"
	otherColumns = "session.parent_id session.title session.revert session.permission session.time_created" +
		" session.time_updated message.time_created message.time_updated part.time_updated session_v2.parent_id" +
		" session_v2.title session_v2.time_created session_v2.time_updated session_message.time_created" +
		" session_message.time_updated"
)

var laterTable = lazyregexp.New(`^(?:session|message|session_message|part)_v\d+$`)

// opencodeRelations are what is read, with its columns and the tables of OpenCode 2 and 1 that have it.
var opencodeRelations = map[string]struct{ columns, table, former string }{
	"sessions": {"id title directory parent_id fork_session_id revert permission time_created time_updated",
		"session_v2", "session"},
	"formers":  {"id permission", "session", ""},
	"messages": {"id session_id type seq time_created time_updated data", "session_message", "message"},
	"parts":    {"id message_id time_updated data", "part", ""},
}

// rows is a subquery of a relation's rows that fulfil a condition. OpenCode 2 keeps the tables of OpenCode 1, and
// copies sessions and messages with their ids: then the copy counts. A column or table that is missing is null. The
// condition is not left to a clause around the subquery, since SQLite would then read all rows.
func (d *opencodeDB) rows(relation, where string) string {
	r := opencodeRelations[relation]
	var selects []string
	for _, table := range []string{r.table, r.former} {
		if !d.has[table] {
			continue
		}
		columns := strings.Fields(r.columns)
		for i, column := range columns {
			if columns[i] = table + "." + column; !d.has[columns[i]] {
				columns[i] = "NULL"
			}
			columns[i] += " AS " + column
		}
		one := "SELECT " + strings.Join(columns, ", ") + " FROM " + table + " WHERE " + where
		if selects != nil {
			one += " AND NOT EXISTS (SELECT 1 FROM " + r.table + " n WHERE n.id = " + table + ".id)"
		}
		selects = append(selects, one)
	}
	if selects == nil {
		selects = []string{"SELECT NULL AS " + strings.ReplaceAll(r.columns, " ", ", NULL AS ") + " WHERE 0"}
	}
	return "(" + strings.Join(selects, " UNION ALL ") + ")"
}

// opencodeSessions lists the sessions of a database in order of id. ok is false if the file is neither an
// OpenCode database nor one that SQLite keeps beside a database, which has no sessions. The error says why a
// database cannot be listed, or why not whole.
func opencodeSessions(path string, info fs.FileInfo) (sessions []memoir.File, ok bool, err error) {
	if isSidecar(path) {
		return nil, true, nil
	}
	if !isDatabase(path, info) {
		return nil, false, nil
	}
	sessions, err = listSessions(path, "id > ''")
	if errors.Is(err, errOtherDatabase) {
		return nil, false, nil
	}
	return sessions, true, databaseError(path, err)
}

// statMember returns one session of a database; fs.ErrNotExist if it does not exist.
func statMember(database, id string) (memoir.File, error) {
	files, err := listSessions(database, "id = ?1", id)
	switch {
	case err != nil && (len(files) == 0 || !errors.Is(err, errLater)):
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
	all := d.rows("messages", "session_id = s.id")
	newest := ` IN (SELECT id FROM ` + all + ` ORDER BY time_created DESC, id DESC LIMIT 4)`
	rows, err := d.tx.Query(`SELECT s.id, CAST(s.time_updated AS INTEGER), octet_length(s.revert),
		(SELECT count(*) FROM `+all+`),
		(SELECT format('%d/%d/%d', sum(octet_length(data)), count(*), max(time_updated))
			FROM `+d.rows("messages", "id"+newest)+`),
		(SELECT format('%d/%d/%d', sum(octet_length(data)), count(*), max(time_updated))
			FROM `+d.rows("parts", "message_id"+newest)+`)
		FROM `+d.rows("sessions", where)+` s ORDER BY s.id`, args...)
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
		length, _ := leadingInt(messages) // of the newest messages and parts together
		more, _ := leadingInt(parts)
		files = append(files, memoir.File{Path: memberPath(path, id), Size: int64(length + more),
			ModTime: time.UnixMilli(updated.Int64), Inode: digest.Sum64() >> 1})
	}
	if err = errors.Join(rows.Err(), d.unchanged()); err == nil && d.later != "" {
		err = memoir.Errorf(memoir.CodeUnreadable, "a later memoir may read it",
			"%s has the table %s of a later OpenCode: %w", path, d.later, errLater)
	}
	return files, err
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
