package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir/internal/disk"
)

// purpose of a connection.
type purpose int

const (
	forReading purpose = iota
	forWriting
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
		if s.writer == nil && unwritable(s.path) {
			query.Set("immutable", "1")
		}
	case forWriting:
		// On macOS fsync alone leaves the data in the drive's cache. A transaction says itself
		// how durable it is.
		pragmas = []string{"foreign_keys = ON", "fullfsync = ON", "secure_delete = ON", "cache_size = -8000"}
	case forMigration:
		// A migration may rebuild a table that others refer to.
		pragmas = []string{"foreign_keys = OFF", "synchronous = FULL", "fullfsync = ON"}
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path), RawQuery: query.Encode(), OmitHost: true}
	return connector{dsn: dsn.String(), driver: &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error {
			// What SQLite writes to temporary files would lie outside of memoir's folder.
			for _, pragma := range append(pragmas, "temp_store = MEMORY") {
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
