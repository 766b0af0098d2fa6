package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

type migration struct {
	version int64 // PRAGMA user_version of a database that it was applied to
	sql     string
}

// migrationsIn reads the migrations in the order of the numbers that their names begin with.
func migrationsIn(dir fs.FS) ([]migration, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", name, err)
		}
		sql, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{version, string(sql)})
	}
	slices.SortFunc(steps, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	return steps, nil
}

type schema struct {
	version int64 // number of the newest migration applied
	empty   bool  // it has no tables
}

func (s *Store) schema(t tx) (now schema) {
	var application, tables int64
	t.get(`SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`, nil, &now.version, &application, &tables)
	switch now.empty = tables == 0 && now.version == 0 && application == 0; {
	case application == formerID:
		t.fail(memoir.Errorf(memoir.CodeStorage, "choose a new directory with --home; docs/carry-over.sql in "+
			"memoir's repository carries over notes, hand edits, the ledger and what was forgotten",
			"database %s has a schema from before the first release", s.path))
	case application != applicationID && !now.empty:
		t.fail(memoir.Errorf(memoir.CodeCorrupt, "choose another directory with --home, or move the file aside",
			"%s is a database of another program", s.path))
	}
	return now
}

func (s *Store) version() int64 { return s.steps[len(s.steps)-1].version }

// checkVersion returns an error unless the database has the version that a reader needs.
func (s *Store) checkVersion(ctx context.Context) error {
	want := s.version()
	now, err := fetch(ctx, s, s.schema, "opening database")
	switch {
	case err != nil:
		return err
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
	return memoir.Errorf(memoir.CodeNewer, "install the newer memoir, or choose another directory with --home",
		"database %s was written by a newer memoir: schema %d, and this version supports %d", s.path, have, want)
}

// migrate brings the schema up to date. All pending migrations are one transaction under the write lock.
// If two processes open a new database, the second waits and has nothing to do. A migration that fails
// changes nothing.
func (s *Store) migrate(ctx context.Context) error {
	want := s.version()
	now, err := s.beginLog(ctx, want)
	switch {
	case err != nil:
		return s.explain(err, "opening database")
	case now.version > want:
		return s.newer(now.version, want)
	case now.version == want:
		return nil
	}
	backup := ""
	err = s.withoutReferences(ctx, func(t tx) {
		now := s.schema(t)
		if !t.ok() || now.version >= want { // another process may have migrated it since
			return
		}
		if now.version > 0 {
			backup = fmt.Sprintf("%s.v%d.bak", s.path, now.version)
			t.fail(s.copyTo(ctx, backup))
		}
		apply(t, s.steps, now.version)
	})
	if err != nil && backup != "" {
		return s.explain(err, "migrating database %s failed; it is unchanged, and a copy is in %s", s.path, backup)
	}
	return s.explain(err, "migrating database")
}

// beginLog enables the write-ahead log unless the schema is newer than want. It reads the schema from one
// snapshot: while another process creates the database, tables without memoir's application id would look
// like another program's.
func (s *Store) beginLog(ctx context.Context, want int64) (now schema, err error) {
	err = s.onWriter(ctx, func(t tx) {
		t.exec("BEGIN")
		now = s.schema(t)
		rollback(t.ctx, t.on) // a lock refused inside leaves the transaction open
		if isBusy(*t.failed) {
			discard(t.on)
		}
		var mode string
		if t.get("PRAGMA journal_mode", nil, &mode); !t.ok() || now.version > want || mode == "wal" {
			return
		}
		if failpoint.Before("begin a log") != nil {
			t.fail(errFull)
		}
		if t.get("PRAGMA journal_mode = WAL", nil, &mode); mode != "wal" {
			t.fail(memoir.Errorf(memoir.CodeStorage, "choose a directory on a local disk with --home",
				"the file system of %s lacks the shared memory or the locks that a database needs", s.path))
		}
	})
	return now, err
}

// withoutReferences is durably with foreign keys disabled, since a migration may rebuild a table that others
// refer to.
func (s *Store) withoutReferences(ctx context.Context, fn func(tx)) error {
	set := func(mode string) error {
		_, err := s.writer.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = "+mode)
		return err
	}
	if err := set("OFF"); err != nil {
		return err
	}
	return errors.Join(s.durably(ctx, fn), set("ON"))
}

// apply runs the migrations after a version. Dangling references that existed before are not an error:
// another program may have deleted rows, and doctor reports it.
func apply(t tx, steps []migration, after int64) {
	const dangling = `SELECT count(*) FROM pragma_foreign_key_check`
	var before, left int
	t.get(dangling, nil, &before)
	for _, step := range steps {
		if step.version > after && t.ok() {
			if t.exec(step.sql); !t.ok() {
				*t.failed = fmt.Errorf("migration %d: %w", step.version, *t.failed)
			}
		}
	}
	if t.get(dangling, nil, &left); left > before {
		t.fail(fmt.Errorf("%d rows would refer to rows that are gone", left-before))
	}
	t.exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID,
		steps[len(steps)-1].version))
}
