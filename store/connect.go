package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/internal/disk"
)

// patience is how long SQLite itself waits for a lock before the waiting is done
// here, where a cancelled context ends it.
const patience = 100 * time.Millisecond

// noticeable is how long a wait lasts before it is told of.
const noticeable = time.Second

// applicationID marks a database file as memoir's (bytes 68 to 71 of the file).
const applicationID = 0x6d656d72 // "memr"

// SQLiteVersion is the version of SQLite that is built in: "3.51.0".
func SQLiteVersion() string {
	version, _, _ := sqlite3.Version()
	return version
}

type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

// Connect opens the file, without looking at the context: what it waits for is bounded by
// the busy timeout.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver is SQLite's.
func (c connector) Driver() driver.Driver { return c.driver }

// connector holds every pragma of a connection. The busy timeout comes first
// because each of the others may find the database locked.
func (s *Store) connector(writing bool) driver.Connector {
	query := url.Values{}
	query.Set("_busy_timeout", fmt.Sprint(patience.Milliseconds()))
	query.Set("_stmt_cache_size", "64")
	query.Set("mode", "ro")
	// What SQLite writes to temporary files would lie outside of memoir's folder.
	pragmas := []string{"temp_store = MEMORY"}
	if writing {
		query.Set("mode", "rw")
		// On macOS fsync alone leaves the data in the drive's cache. A transaction says itself
		// how durable it is.
		pragmas = append(pragmas, "foreign_keys = ON", "fullfsync = ON", "secure_delete = ON", "cache_size = -8000")
	} else if s.writer == nil && unwritable(s.path) {
		query.Set("immutable", "1")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path), RawQuery: query.Encode(), OmitHost: true}
	return connector{dsn: dsn.String(), driver: &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error {
			for _, pragma := range pragmas {
				if _, err := c.Exec("PRAGMA "+pragma, nil); err != nil {
					return err
				}
			}
			return nil
		},
	}}
}

// unwritable reports that readers can't make the files beside the database that a
// write-ahead log needs, and that there is no log: then the file alone is the
// whole database and nobody changes it.
func unwritable(path string) bool {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return false
	}
	if disk.Remote(filepath.Dir(path)) { // where nobody can lock, and so nobody writes
		return true
	}
	dir := filepath.Dir(path)
	shared, err := os.Stat(path + "-shm")
	if disk.Full(dir) && (err != nil || shared.Size() < disk.Least) { // nobody has it open
		return true
	}
	probe, err := os.OpenFile(path+"-shm", os.O_RDWR, 0)
	if err == nil {
		probe.Close()
		return false
	}
	if !errors.Is(err, os.ErrNotExist) {
		return true
	}
	return !writableDir(dir)
}

const (
	corruptHint = "`memoir run` opens the backup, if there is one; `memoir doctor` checks it"
	storageHint = "free disk space, or make the folder and the file writable"
	busyHint    = "another program holds the database; wait for it, or end it, and try again"
)

var errReadOnly = memoir.Errorf(memoir.CodeInternal, "", "database was opened read-only")

// isBusy reports that another connection holds a lock.
func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) &&
		(e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked || e.Code == sqlite3.ErrProtocol)
}

// isFull reports that the disk, a quota or a limit on a file's size has no room left.
func isFull(err error) bool {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.SystemErrno {
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG:
		return true
	}
	return e.Code == sqlite3.ErrFull
}

// explain wraps an error with what was being done, and gives errors of SQLite
// their code and hint.
func (s *Store) explain(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	doing = fmt.Sprintf(doing, args...)
	var known *memoir.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	var e sqlite3.Error
	if errors.Is(err, sql.ErrNoRows) { // a row that others name: where one may be missing, it was looked for
		e.Code = sqlite3.ErrCorrupt
	} else if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	switch e.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrFormat:
		if s.writer != nil {
			markDamaged(s.path)
		}
		return memoir.Errorf(memoir.CodeCorrupt, corruptHint, "%s: database %s is damaged: %w", doing, s.path, err)
	case sqlite3.ErrFull, sqlite3.ErrReadonly, sqlite3.ErrIoErr, sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrAuth,
		sqlite3.ErrNoLFS:
		return memoir.Errorf(memoir.CodeStorage, sqliteHint(e), "%s: database %s can't be read or written: %w",
			doing, s.path, err)
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		return memoir.Errorf(memoir.CodeBusy, busyHint, "%s: database %s was locked for %s: %w", doing, s.path, s.busy, err)
	case sqlite3.ErrError: // a table or an index that is gone, for instance, for which SQLite has no code
		return memoir.Errorf(memoir.CodeCorrupt, "move it aside: the next run opens the backup",
			"%s: database %s cannot do it: %w", doing, s.path, err)
	}
	return fmt.Errorf("%s: database %s: %w", doing, s.path, err)
}

// sqliteHint says what to do about an error of the disk that SQLite met. What can't
// be opened for another reason than those that are known is most often a file beside
// the database that there is no room for.
func sqliteHint(e sqlite3.Error) string {
	if e.Code == sqlite3.ErrFull {
		return disk.Hint(syscall.ENOSPC)
	}
	return cmp.Or(disk.Hint(e.SystemErrno), storageHint)
}

func storageError(err error, doing string, args ...any) error {
	return memoir.Errorf(memoir.CodeStorage, cmp.Or(disk.Hint(err), storageHint), "%s: %w",
		fmt.Sprintf(doing, args...), err)
}
