package rollout

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strings"
	"time"

	"memoir"
)

// newestRows is how many messages a look at a session looks at, with their parts.
const newestRows = 4

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
	newest := fmt.Sprintf(`SELECT m.id FROM message m WHERE m.session_id = s.id ORDER BY %s DESC, m.id DESC LIMIT %d`,
		d.either("message", "time_created", "m.id"), newestRows)
	query := `SELECT s.id, CAST(` + d.either("session", "time_updated", "NULL") + ` AS INTEGER), coalesce(octet_length(` + d.either("session", "revert", "''") + `), 0),
		(SELECT count(*) FROM message m WHERE m.session_id = s.id),
		(SELECT format('%d/%d/%d', count(*), max(` + d.either("message", "time_updated", "0") + `), sum(octet_length(m.data))) FROM message m WHERE m.id IN (` + newest + `)),
		(SELECT format('%d/%d/%d', coalesce(sum(octet_length(p.data)), 0), count(*), max(` + d.either("part", "time_updated", "0") + `)) FROM part p WHERE p.message_id IN (` + newest + `))
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
	return memoir.Errorf(memoir.CodeUnreadable, "`sqlite3 FILE .recover` may help", "read OpenCode's database %s: %w", path, err)
}
