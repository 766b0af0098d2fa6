package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"memoir"
	"memoir/internal/failpoint"
)

// newest is the number of the last migration: the schema that this program needs.
func newest(migrations fs.FS) (int64, error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return 0, err
	}
	var last int64
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s has no number: %w", name, err)
		}
		last = max(last, n)
	}
	return last, nil
}

// schema is what a database says about itself.
type schema struct {
	version int64 // number of the newest migration applied
	empty   bool  // it has no tables
}

func (s *Store) schema(t tx) (schema, error) {
	var now schema
	var application int64
	if err := t.get("PRAGMA user_version", nil, &now.version); err != nil {
		return now, err
	}
	if err := t.get("PRAGMA application_id", nil, &application); err != nil {
		return now, err
	}
	if application == applicationID {
		return now, nil
	}
	var tables int
	if err := t.get("SELECT count(*) FROM sqlite_schema", nil, &tables); err != nil {
		return now, err
	}
	now.empty = tables == 0 && now.version == 0 && application == 0
	if !now.empty {
		return now, memoir.Errorf(memoir.CodeCorrupt, "choose another folder with --home, or move the file aside",
			"%s is a database of another program", s.path)
	}
	return now, nil
}

// schemaAtOnce is schema for a connection that is in no transaction: all that is
// asked comes from one snapshot. Another process may just be filling the database,
// and its tables without its mark would look like another program's.
func (s *Store) schemaAtOnce(t tx) (schema, error) {
	if _, err := t.exec("BEGIN"); err != nil {
		return schema{}, err
	}
	now, err := s.schema(t)
	_, ended := t.exec("ROLLBACK") // a lock refused inside leaves the transaction open
	return now, errors.Join(err, ended)
}

// checkVersion refuses what a reader can't read.
func (s *Store) checkVersion(ctx context.Context, migrations fs.FS) error {
	want, err := newest(migrations)
	if err != nil {
		return err
	}
	var now schema
	err = s.read(ctx, func(t tx) (err error) {
		now, err = s.schema(t)
		return err
	})
	switch {
	case err != nil:
		return s.explain(err, "opening database")
	case now.empty:
		return memoir.Errorf(memoir.CodeNotFound, "`memoir run` fills it", "database %s is still empty", s.path)
	case now.version > want:
		return s.newer(now.version, want)
	case now.version < want:
		return memoir.Errorf(memoir.CodeStorage, "`memoir run` brings it up to date, after making a copy",
			"database %s has schema %d, not %d: %w", s.path, now.version, want, ErrOutdated)
	}
	return nil
}

func (s *Store) newer(have, want int64) error {
	return memoir.Errorf(memoir.CodeNewer, "install that version again, or choose another folder with --home",
		"database %s was written by a newer memoir: schema %d, and this one knows %d", s.path, have, want)
}

// migrate brings the schema up to date. All pending migrations are one
// transaction, under the write lock: of two processes that open a new database
// the second waits and finds it done, and a migration that fails leaves the
// database as it was.
func (s *Store) migrate(ctx context.Context, migrations fs.FS) error {
	want, err := newest(migrations)
	if err != nil {
		return err
	}
	var now schema
	err = s.patiently(ctx, func() error {
		conn, err := s.writer.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		t := tx{ctx: context.WithoutCancel(ctx), on: conn}
		if now, err = s.schemaAtOnce(t); err != nil || now.version > want {
			if isBusy(err) {
				discard(conn)
			}
			return err
		}
		var mode string
		if err := t.get("PRAGMA journal_mode", nil, &mode); err != nil || mode == "wal" {
			return err
		}
		if failpoint.Before("begin a log") != nil {
			return errFull
		}
		if err := t.get("PRAGMA journal_mode = WAL", nil, &mode); err != nil || mode == "wal" {
			return err
		}
		return memoir.Errorf(memoir.CodeStorage, "choose a folder on a local disk with --home",
			"the file system of %s lacks the shared memory or the locks that a database needs", s.path)
	})
	switch {
	case err != nil:
		return s.explain(err, "opening database")
	case now.version > want:
		return s.newer(now.version, want)
	case now.version == want:
		return nil
	}

	backup, err := s.migrateNow(ctx, migrations, want)
	if err != nil && backup != "" {
		return s.explain(err, "migrating database %s failed, and it is as it was; a copy is in %s", s.path, backup)
	}
	return s.explain(err, "migrating database")
}

func (s *Store) migrateNow(ctx context.Context, migrations fs.FS, want int64) (backup string, err error) {
	// goose takes connections from the pool as it likes. There is only one, already
	// inside the transaction, so that all it does happens there; and closing the
	// pool without a commit undoes it.
	db := sql.OpenDB(s.connector(forMigration))
	defer db.Close()
	db.SetMaxOpenConns(1)
	t := tx{ctx: context.WithoutCancel(ctx), on: db}
	if failpoint.Before("begin") != nil {
		return "", errFull
	}
	if err := s.patiently(ctx, func() error { _, err := t.exec("BEGIN IMMEDIATE"); return err }); err != nil {
		return "", err
	}
	now, err := s.schema(t)
	if err != nil || now.version >= want {
		return "", err
	}
	if now.version > 0 {
		if backup, err = s.copyBefore(ctx, now.version); err != nil {
			return "", err
		}
	}
	// Another program may have deleted rows without looking after references: doctor tells.
	before, err := dangling(t)
	if err != nil {
		return backup, err
	}
	if err := apply(t.ctx, db, migrations, want); err != nil {
		return backup, err
	}
	after, err := dangling(t)
	if err != nil {
		return backup, err
	}
	if n := after - before; n > 0 {
		return backup, fmt.Errorf("%d rows would refer to rows that are gone", n)
	}
	if failpoint.Before("commit") != nil {
		return backup, errFull
	}
	for _, statement := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", want),
		"COMMIT",
	} {
		if _, err := t.exec(statement); err != nil {
			return backup, err
		}
	}
	failpoint.After("committed")
	return backup, nil
}

// dangling counts the rows that refer to rows that are gone.
func dangling(t tx) (n int, err error) {
	err = t.each("PRAGMA foreign_key_check", nil, func(func(...any) error) error { n++; return nil })
	return n, err
}

// apply brings the schema that a connection sees to a version.
func apply(ctx context.Context, db *sql.DB, migrations fs.FS, version int64) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations,
		goose.WithDisableGlobalRegistry(true), goose.WithVerbose(false),
		goose.WithIsolateDDL(true)) // no transactions of its own
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}
