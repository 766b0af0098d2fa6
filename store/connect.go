package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/internal/disk"
)

// lockWait is how long SQLite waits for a lock in one try. Store.patiently repeats tries, so that a
// cancelled context ends the wait.
const lockWait = 100 * time.Millisecond

// reportWait is how long a wait lasts before Options.Waiting is called.
const reportWait = time.Second

// applicationID marks a database file as memoir's (bytes 68 to 71 of the file). formerID marks one whose schema
// was never released: its user_version, 15 to 21, counts other migrations.
const (
	applicationID = 0x6d656d6f // "memo"
	formerID      = 0x6d656d72 // "memr"
)

// SQLiteVersion is the version of SQLite that is built in: "3.51.0".
func SQLiteVersion() string {
	version, _, _ := sqlite3.Version()
	return version
}

type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

// Connect opens the file. It ignores the context, since the busy timeout bounds its waits.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver returns SQLite's driver.
func (c connector) Driver() driver.Driver { return c.driver }

// connector holds every pragma of a connection. The busy timeout comes first
// because each of the others may find the database locked.
func (s *Store) connector(writing bool) driver.Connector {
	query := url.Values{}
	query.Set("_busy_timeout", fmt.Sprint(lockWait.Milliseconds()))
	query.Set("_stmt_cache_size", "64")
	query.Set("mode", "ro")
	// SQLite's temporary files would be outside of memoir's folder.
	pragmas := []string{"temp_store = MEMORY"}
	if writing {
		query.Set("mode", "rw")
		// On macOS fsync alone leaves the data in the drive's cache. Each transaction sets synchronous.
		pragmas = append(pragmas, "foreign_keys = ON", "fullfsync = ON", "secure_delete = ON", "cache_size = -8000")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path), RawQuery: query.Encode(), OmitHost: true}
	return connector{dsn: dsn.String(), driver: &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error {
			for _, pragma := range pragmas {
				if _, err := c.Exec("PRAGMA "+pragma, nil); err != nil {
					return err
				}
			}
			return errors.Join(c.RegisterFunc("packed", pack, true), c.RegisterFunc("plain", unpack, true))
		},
	}}
}

const (
	corruptHint = "call `memoir run`, and once more if it ends with this error: it opens the backup, if there is one"
	asideHint   = "move it aside: the next run opens the backup, or without one makes a new database from " +
		"memories and sessions"
	storageHint = "free disk space, or make the directory and the file writable; one that is mounted read-only " +
		"cannot be read either: choose another with --home"
	busyHint = "another program holds the database; wait for it, or end it, and try again"
)

var errReadOnly = memoir.Errorf(memoir.CodeInternal, "", "database was opened read-only")

// isBusy reports that another connection or process holds a lock.
func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.Is(err, errLocked) || errors.As(err, &e) &&
		(e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked || e.Code == sqlite3.ErrProtocol)
}

// explain wraps an error with the operation that failed, and adds a code and a hint to SQLite's errors.
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
	// Another row refers to a missing one, since callers handle those that may be missing. Or a column has a value that
	// it cannot have, for which database/sql has no type.
	if errors.Is(err, sql.ErrNoRows) || strings.Contains(err.Error(), "sql: Scan error") {
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
	case sqlite3.ErrError: // for instance a missing table or index, for which SQLite has no code of its own
		return memoir.Errorf(memoir.CodeCorrupt, asideHint,
			"%s: database %s is damaged or incomplete: %w", doing, s.path, err)
	}
	return fmt.Errorf("%s: database %s: %w", doing, s.path, err)
}

// sqliteHint returns the hint for a disk error that SQLite reported. storageHint covers unknown causes, most
// often a lack of space for the files beside the database.
func sqliteHint(e sqlite3.Error) string {
	if e.Code == sqlite3.ErrFull {
		return disk.Hint(syscall.ENOSPC)
	}
	return cmp.Or(disk.HintOr(e.SystemErrno, "--home"), storageHint)
}

func storageError(err error, doing string, args ...any) error {
	return memoir.Errorf(memoir.CodeStorage, cmp.Or(disk.HintOr(err, "--home"), storageHint), "%s: %w",
		fmt.Sprintf(doing, args...), err)
}
