package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/lease"
)

//go:embed migration/*.sql
var embedded embed.FS

// Options says how a database is opened.
type Options struct {
	// ReadOnly opens for reading alone: nothing is created, migrated or written.
	ReadOnly bool
	// Now is the clock of leases, delays and the ledger; nil means time.Now.
	Now func() time.Time
	// BusyTimeout is how long to wait for a database that others write to; 0 means 10 s.
	BusyTimeout time.Duration
	// Waiting is called when the database has been waited for so long that a person would
	// ask why, once each time. It may be called by several goroutines. Nil: nobody asks.
	Waiting func()
	// Restored is called when the backup is opened in the place of a damaged database, which
	// was moved to aside, or of one that was gone; aside is empty then. Nil: nobody asks.
	Restored func(aside string)
	// Rand spreads delays; it returns a number in [0, 1). Nil means a random one.
	Rand func() float64
}

// Store is an open database.
type Store struct {
	path    string
	now     func() time.Time // of delays and the ledger
	ticks   func() time.Time // of leases
	rand    func() float64
	busy    time.Duration
	waiting func()
	writer  *sql.DB       // one connection, so that no other makes its page cache invalid; nil if ReadOnly
	readers *sql.DB       // refuses to write
	writing chan struct{} // holds a token while this process writes

	batch         sync.Mutex // guards waitingWrites
	waitingWrites []*batched
}

// ErrOutdated means that a database opened ReadOnly needs a migration first.
var ErrOutdated = errors.New("database was written by an older version")

// Open opens the database at path, which it creates and migrates unless
// o.ReadOnly. Errors have the codes CodeNotFound (ReadOnly, and there is none yet),
// CodeCorrupt, CodeNewer, CodeStorage or CodeBusy; ReadOnly may also give
// ErrOutdated. A damaged database is replaced by its backup, if there is one.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	migrations, err := fs.Sub(embedded, "migration")
	if err != nil {
		return nil, err
	}
	return open(ctx, path, o, migrations)
}

func open(ctx context.Context, path string, o Options, migrations fs.FS) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage, "", "finding database %s: %w", path, err)
	}
	s := &Store{path: path, now: o.Now, rand: o.Rand, busy: o.BusyTimeout, waiting: o.Waiting,
		writing: make(chan struct{}, 1)}
	if o.Now == nil {
		s.now = failpoint.Now
		s.ticks = lease.Now
	} else {
		s.ticks = o.Now
	}
	if s.rand == nil {
		s.rand = rand.Float64
	}
	if s.busy == 0 {
		s.busy = 10 * time.Second
	}
	if err := checkKind(path); err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		aside, replaced, err := replaceDamaged(ctx, path, s.busy)
		if err != nil {
			return nil, err
		}
		if replaced && o.Restored != nil {
			o.Restored(aside)
		}
		if err := create(path); err != nil {
			return nil, err
		}
	}
	if err := checkHeader(path); err != nil {
		if !o.ReadOnly && memoir.CodeOf(err) == memoir.CodeCorrupt {
			markDamaged(path)
		}
		return nil, err
	}
	s.readers = openReaders(s)
	if !o.ReadOnly {
		s.writer = sql.OpenDB(s.connector(forWriting))
		s.writer.SetMaxOpenConns(1)
	}
	if o.ReadOnly {
		err = s.checkVersion(ctx, migrations)
	} else {
		err = s.migrate(ctx, migrations)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if !o.ReadOnly {
		if err := s.reserve(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// openReaders opens the connections for reading.
func openReaders(s *Store) *sql.DB {
	db := sql.OpenDB(s.connector(forReading))
	db.SetMaxOpenConns(4)
	return db
}

// Exists reports whether there is a database at a path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Path is where the database is.
func (s *Store) Path() string { return s.path }

// Close closes the database.
func (s *Store) Close() error {
	failpoint.After("close") // the last one to close moves what is in the log
	var errs []error
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return s.explain(errors.Join(errs...), "closing database")
}

// create makes the folder and an empty file, which is an empty database, so that
// the file never exists with a mode other than 0600. SQLite gives its own files
// beside it the same mode.
func create(path string) error {
	if err := failpoint.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storageError(err, "creating folder of database %s", path)
	}
	if err := disk.Fit(filepath.Dir(path)); err != nil {
		return err
	}
	if err := failpoint.Before("create database"); err != nil {
		return storageError(err, "opening database %s", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return storageError(err, "opening database %s", path)
	}
	return f.Close()
}

// checkKind refuses what is no file, before anything waits for it as for a pipe.
func checkKind(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return memoir.Errorf(memoir.CodeStorage, "move it aside, or choose another folder with --home; nothing was changed",
			"database %s is not a file", path)
	}
	return nil // what else may be wrong is found by opening it
}

// checkHeader tells a database from another file before SQLite touches it.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return memoir.Errorf(memoir.CodeNotFound, "`memoir run` makes it", "there is no database at %s yet: %w", path, err)
	}
	if err != nil {
		return storageError(err, "opening database %s", path)
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	n, err := f.Read(head)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil // new, or about to be made by another process
	case n == 0:
		return storageError(err, "reading database %s", path)
	}
	if string(head[:n]) != magic {
		return memoir.Errorf(memoir.CodeCorrupt, corruptHint, "%s is not a database", path)
	}
	return nil
}

// Check examines the whole database and returns what is wrong with it, a line
// each; nothing if all is well. It reads every page.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := s.read(ctx, func(t tx) error {
		err := t.each(`PRAGMA integrity_check`, nil, func(scan func(...any) error) error {
			var line string
			err := scan(&line)
			if line != "ok" {
				found = append(found, line)
			}
			return err
		})
		if err != nil {
			return err
		}
		err = t.each(`SELECT "table" || ' refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check
			WHERE "table" <> 'extraction_mark'`, nil, // which does no harm: LostExtractions tells why
			func(scan func(...any) error) error {
				var line string
				err := scan(&line)
				found = append(found, line)
				return err
			})
		if err != nil {
			return err
		}
		return t.each(`SELECT 'the inputs of generation ' || n || ' of project ' || project_id || ' cannot be read'
			FROM generation WHERE NOT json_valid(inputs)
			UNION ALL SELECT 'session ' || key || ' goes by another key'
			FROM session WHERE key <> source || ':' || thread_id`, nil,
			func(scan func(...any) error) error {
				var line string
				err := scan(&line)
				found = append(found, line)
				return err
			})
	})
	return found, s.explain(err, "checking database")
}
