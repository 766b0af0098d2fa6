package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// purpose of a connection.
type purpose int

const (
	forReading purpose = iota
	forQuickWrites
	forDurableWrites
	forMigration
)

// patience is how long SQLite itself waits for a lock before the waiting is done
// here, where a cancelled context ends it.
const patience = 100 * time.Millisecond

// noticeable is how long a wait lasts before it is told of.
const noticeable = time.Second

// applicationID marks a database file as memoir's (bytes 68 to 71 of the file).
const applicationID = 0x6d656d72 // "memr"

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
func (s *Store) connector(p purpose) driver.Connector {
	query := url.Values{}
	query.Set("_busy_timeout", fmt.Sprint(patience.Milliseconds()))
	query.Set("_stmt_cache_size", "64")
	query.Set("mode", "rw")
	var pragmas []string
	switch p {
	case forReading:
		query.Set("mode", "ro")
		if s.quick == nil && unwritable(s.path) {
			query.Set("immutable", "1")
		}
	case forQuickWrites:
		pragmas = []string{"foreign_keys = ON", "synchronous = NORMAL", "secure_delete = ON"}
	case forDurableWrites:
		// On macOS fsync alone leaves the data in the drive's cache.
		pragmas = []string{"foreign_keys = ON", "synchronous = FULL", "fullfsync = ON", "secure_delete = ON"}
	case forMigration:
		// A migration may rebuild a table that others refer to.
		pragmas = []string{"foreign_keys = OFF", "synchronous = FULL", "fullfsync = ON"}
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

// tx is a transaction. It is not cancelled half way: transactions are short, and
// waiting for one to begin is what can be cancelled.
type tx struct {
	ctx context.Context
	on  interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
}

// exec runs one statement and returns the number of rows it changed.
func (t tx) exec(query string, args ...any) (int64, error) {
	res, err := t.on.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// get reads one row; sql.ErrNoRows if there is none.
func (t tx) get(query string, args []any, into ...any) error {
	return t.on.QueryRowContext(t.ctx, query, args...).Scan(into...)
}

// errStop ends each early, without an error.
var errStop = errors.New("enough rows")

// each calls fn for every row.
func (t tx) each(query string, args []any, fn func(scan func(into ...any) error) error) error {
	rows, err := t.on.QueryContext(t.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err == errStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// durably runs fn in a write transaction that survives power loss once committed.
func (s *Store) durably(ctx context.Context, fn func(tx) error) error {
	return s.write(ctx, s.durable, fn)
}

// quickly runs fn in a write transaction whose commit may be lost with the power,
// together with those after it: for what can be found out or done again.
func (s *Store) quickly(ctx context.Context, fn func(tx) error) error {
	return s.write(ctx, s.quick, fn)
}

// turn waits until nothing else in this process writes; done ends the turn. The error is
// errReadOnly, or the cause of a context that is done.
func (s *Store) turn(ctx context.Context) (done func(), err error) {
	if s.durable == nil {
		return nil, errReadOnly
	}
	select {
	case s.writing <- struct{}{}:
		return func() { <-s.writing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Store) write(ctx context.Context, db *sql.DB, fn func(tx) error) error {
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.inTurn(ctx, db, fn)
}

// inTurn is write for one whose turn it is.
func (s *Store) inTurn(ctx context.Context, db *sql.DB, fn func(tx) error) error {
	if failpoint.Before("begin") != nil {
		return errFull
	}
	err := s.transact(ctx, db, "BEGIN IMMEDIATE", func(t tx) error {
		if err := fn(t); err != nil {
			return err
		}
		if failpoint.Before("commit") != nil {
			return errFull
		}
		return nil
	})
	if err == nil {
		failpoint.After("committed")
	}
	return err
}

// errFull is what SQLite says where the disk is full.
var errFull = sqlite3.Error{Code: sqlite3.ErrFull}

// read runs fn on one snapshot of the database.
func (s *Store) read(ctx context.Context, fn func(tx) error) error {
	// A plain BEGIN locks nothing; the first look at the schema takes the snapshot,
	// and waits for it where it has to.
	return s.transact(ctx, s.readers, "BEGIN; SELECT count(*) FROM sqlite_schema WHERE rowid = 0", fn)
}

func (s *Store) transact(ctx context.Context, db *sql.DB, begin string, fn func(tx) error) error {
	var conn *sql.Conn
	var t tx
	err := s.patiently(ctx, func() (err error) {
		if conn, err = db.Conn(ctx); err != nil {
			return err
		}
		t = tx{ctx: context.WithoutCancel(ctx), on: conn}
		if _, err = t.exec(begin); err != nil {
			rollback(t.ctx, conn) // BEGIN may have succeeded, and what follows it not
			if db == s.readers && isBusy(err) {
				discard(conn)
				return err
			}
			return errors.Join(err, conn.Close())
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	committed := false
	defer func() {
		if !committed { // also when fn panics
			rollback(t.ctx, conn)
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	_, err = t.exec("COMMIT")
	committed = err == nil
	return err
}

// rollback ends a transaction that SQLite may already have ended, for instance
// because the disk was full. A connection that stays in its transaction is thrown
// away.
func rollback(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err == nil {
		return
	}
	_ = conn.Raw(func(c any) error {
		if c, ok := c.(*sqlite3.SQLiteConn); ok && c.AutoCommit() {
			return nil
		}
		return driver.ErrBadConn
	})
}

// discard has a connection that waits for its first lock thrown away, so that the next
// try opens the file anew: a repair, which holds such a lock, puts another in its place.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// patiently repeats try while the database is locked by others, until the busy
// timeout or the context ends. SQLite waits inside try, so there is no pause here.
func (s *Store) patiently(ctx context.Context, try func() error) error {
	start := time.Now()
	deadline, told := start.Add(s.busy), s.waiting == nil
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		began := time.Now()
		err := try()
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		if !told && time.Since(start) > noticeable {
			told = true
			s.waiting()
		}
		// Some locks (recovery, a change of journal mode) are refused at once.
		if rest := time.Millisecond - time.Since(began); rest > 0 {
			time.Sleep(rest)
		}
	}
}
