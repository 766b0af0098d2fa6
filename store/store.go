// Package store is memoir's SQLite database: the registry of sessions and files, the job queue of both
// phases, extractions, entries, hand edits and the ledger. It knows neither the agents' formats nor
// models, and touches neither session files nor memory files.
//
// Read queue.go first (the states of a job), then reason.go (why a session is eligible or not),
// extraction.go and consolidation.go (how jobs are claimed and ended), generation.go, and store.go and
// tx.go (how the database is opened and written). The schema is in migration/.
//
// # Jobs
//
// A job is the row of a session ("extract") or project ("consolidate"); docs/queue.md draws its life. Package lease
// explains owner tokens, fences and heartbeats.
//
// A job in state done or dead becomes claimable again when the version of the session, or the change
// sequence of the project, differs from the one that was tried. Retry does the same for error and dead. All
// methods may be called by any number of processes and goroutines at once.
package store

import (
	"cmp"
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
	// ReadOnly opens the database for reading: nothing is created, migrated or written.
	ReadOnly bool
	// Now is the clock of leases, delays and the ledger; nil means time.Now.
	Now func() time.Time
	// BusyTimeout is how long to wait for a database that is locked by others; 0 means 10 s.
	BusyTimeout time.Duration
	// Waiting is called once for each wait that exceeds a second. Several goroutines may call it.
	// It may be nil.
	Waiting func()
	// Restored is called when the backup has replaced a damaged, missing or empty database. aside is the
	// new path of a damaged one. It may be nil.
	Restored func(aside string)
	// Rand returns a number in [0, 1) that spreads delays. Nil means a random one.
	Rand func() float64
}

// Store is an open database.
type Store struct {
	path    string
	steps   []migration
	now     func() time.Time // of delays and the ledger
	ticks   func() time.Time // of leases
	rand    func() float64
	busy    time.Duration
	waiting func()
	writer  *sql.DB       // one connection, so that its page cache stays valid; nil if ReadOnly
	readers *sql.DB       // read-only connections
	writing chan struct{} // holds a token while this process writes

	batch         sync.Mutex // guards waitingWrites
	waitingWrites []*batched
}

// ErrOutdated means that a database opened ReadOnly needs a migration first.
var ErrOutdated = errors.New("database was written by an older version")

// ErrGone means that a database opened ReadOnly is missing or empty, and that the next caller who writes opens its
// backup.
var ErrGone = errors.New("missing or empty")

// Open opens the database at path. Unless o.ReadOnly is set, it creates and migrates it, and replaces a
// damaged one by its backup. Errors have the codes CodeNotFound (with ReadOnly, if the database does not
// exist), CodeCorrupt, CodeNewer, CodeStorage or CodeBusy; with ReadOnly the error may be ErrOutdated or ErrGone.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	migrations, err := fs.Sub(embedded, "migration")
	if err != nil {
		return nil, err
	}
	return open(ctx, path, o, migrations)
}

func open(ctx context.Context, path string, o Options, migrations fs.FS) (*Store, error) {
	steps, err := migrationsIn(migrations)
	if err != nil {
		return nil, err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage, "", "finding database %s: %w", path, err)
	}
	s := &Store{path: path, steps: steps, now: o.Now, ticks: o.Now, rand: o.Rand,
		busy: cmp.Or(o.BusyTimeout, 10*time.Second), waiting: o.Waiting, writing: make(chan struct{}, 1)}
	if o.Now == nil {
		s.now, s.ticks = failpoint.Now, lease.Now
	}
	if s.rand == nil {
		s.rand = rand.Float64
	}
	s.openReaders() // without a connection yet
	if err = s.prepare(ctx, o); err == nil && o.ReadOnly {
		err = s.checkVersion(ctx)
	} else if err == nil {
		s.writer = sql.OpenDB(s.connector(true))
		s.writer.SetMaxOpenConns(1)
		err = s.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare checks the database file before SQLite opens it. Unless o.ReadOnly is set, it creates a missing
// file and replaces a damaged one by the backup.
func (s *Store) prepare(ctx context.Context, o Options) error {
	// Opening a pipe would block. Opening the file finds all other faults.
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() {
		return memoir.Errorf(memoir.CodeStorage,
			"move it aside, or choose another directory with --home; nothing was changed",
			"database %s is not a file", s.path)
	}
	if o.ReadOnly && isGone(s.path) {
		return memoir.Errorf(memoir.CodeCorrupt, "the next command that writes, such as `memoir run`, opens "+
			s.path+backupSuffix, "database %s is %w", s.path, ErrGone)
	}
	if !o.ReadOnly {
		aside, replaced, err := replaceDamaged(ctx, s.path, s.busy)
		if err != nil {
			return err
		}
		if replaced && o.Restored != nil {
			o.Restored(aside)
		}
		if replaced {
			_ = s.Backup(ctx, true) // if it fails, the next run that publishes makes it
		}
		if err := create(s.path); err != nil {
			return err
		}
	}
	err := checkHeader(s.path)
	if !o.ReadOnly && memoir.CodeOf(err) == memoir.CodeCorrupt {
		markDamaged(s.path)
	}
	return err
}

func (s *Store) openReaders() {
	s.readers = sql.OpenDB(s.connector(false))
	s.readers.SetMaxOpenConns(4)
}

// Exists reports whether a file exists at a path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Path returns the path of the database.
func (s *Store) Path() string { return s.path }

// Close closes the database.
func (s *Store) Close() error {
	failpoint.After("close") // the last connection to close moves the log into the database
	var errs []error
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return s.explain(errors.Join(errs...), "closing database")
}

// create makes the folder and an empty file, which is a valid empty database. So the file never has a mode
// other than 0600. SQLite gives its files beside it the same mode.
func create(path string) error {
	if err := failpoint.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storageError(err, "creating the directory of database %s", path)
	}
	if err := disk.Fit(filepath.Dir(path)); err != nil {
		return err
	}
	if err := failpoint.Before("create database"); err != nil {
		return storageError(err, "opening database")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return storageError(err, "opening database")
	}
	return f.Close()
}

// checkHeader returns an error unless the file is a database or empty. It runs before SQLite touches the file.
func checkHeader(path string) error {
	f, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return memoir.Errorf(memoir.CodeNotFound, "`memoir run` creates it", "no database at %s yet: %w", path, err)
	}
	if err != nil {
		return storageError(err, "opening database")
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	n, err := f.Read(head)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil // new, or about to be made by another process
	case n == 0:
		return storageError(err, "reading database")
	}
	if string(head[:n]) != magic {
		return memoir.Errorf(memoir.CodeCorrupt, corruptHint, "%s is not a database", path)
	}
	return nil
}

// Check reads every page of the database and returns the faults that it finds, one line each.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	return fetch(ctx, s, faults, "checking database")
}

func faults(t tx) []string {
	return t.texts(`SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'
		UNION SELECT "table" || ' refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check`)
}
