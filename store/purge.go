package store

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"memoir"
	"memoir/internal/failpoint"
)

// BeginPurge notes that what was deleted is to be taken out of free pages and
// copies, too. BeginForgetting can do so as well.
func (s *Store) BeginPurge(ctx context.Context) error {
	err := s.durably(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE counter SET n = 1 WHERE name = 'purge'`)
		return err
	})
	return s.explain(err, "beginning to purge")
}

// Purging reports whether a purge was begun and not finished.
func (s *Store) Purging(ctx context.Context) (purging bool, err error) {
	err = s.read(ctx, func(t tx) error {
		return t.get(`SELECT coalesce(max(n), 0) > 0 FROM counter WHERE name = 'purge'`, nil, &purging)
	})
	return purging, s.explain(err, "looking for a purge")
}

// Purge takes what was deleted out of the database's file, its log, and the copies
// that were made of it before migrations, which are deleted and returned. It needs
// the database for itself for a moment: CodeBusy says that another process reads or
// writes. BeginPurge comes before.
func (s *Store) Purge(ctx context.Context) (removed []string, err error) {
	done, err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if removed, err = s.removeCopies(); err != nil {
		return removed, err
	}
	if err := s.alone(ctx, `VACUUM`); err != nil {
		return removed, s.explain(err, "purging database")
	}
	if err := s.truncateLog(ctx); err != nil {
		return removed, err
	}
	return removed, s.explain(s.alone(ctx, `UPDATE counter SET n = 0 WHERE name = 'purge'`), "recording that the database was purged")
}

// alone runs a statement outside a transaction.
func (s *Store) alone(ctx context.Context, statement string) error {
	if failpoint.Before("statement") != nil {
		return errFull
	}
	return s.patiently(ctx, func() error {
		conn, err := s.durable.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = tx{ctx: context.WithoutCancel(ctx), on: conn}.exec(statement)
		return err
	})
}

// truncateLog empties the write-ahead log, which holds pages as they were.
func (s *Store) truncateLog(ctx context.Context) error {
	errReading := errors.New("another process is reading")
	if failpoint.Before("empty the log") != nil {
		return s.explain(errFull, "emptying the log of the database")
	}
	err := s.patiently(ctx, func() error {
		conn, err := s.durable.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		var busy, frames, moved int
		t := tx{ctx: context.WithoutCancel(ctx), on: conn}
		if err := t.get(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &moved); err != nil {
			return err
		}
		if busy != 0 {
			return errReading
		}
		return nil
	})
	if errors.Is(err, errReading) {
		return memoir.Errorf(memoir.CodeBusy, "the next `memoir run` empties it", "another process has the database open, so its log still holds what was deleted")
	}
	return s.explain(err, "emptying the log of the database")
}

// copyPatterns are what the names of copies made before migrations, and what repairs kept, add to the database's.
var copyPatterns = []string{".v*.bak", ".v*.bak.tmp", damagedSuffix + "-*", backupSuffix + ".*"}

// removeCopies deletes the copies that were made before migrations, and what repairs kept.
func (s *Store) removeCopies() (removed []string, err error) {
	for _, pattern := range copyPatterns {
		paths, err := filepath.Glob(globQuoted(s.path) + pattern)
		if err != nil {
			return removed, err
		}
		for _, path := range paths {
			if err := failpoint.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return removed, storageError(err, "removing the copy %s", path)
			}
			removed = append(removed, path)
		}
	}
	return removed, nil
}

// globQuoted is a path as a pattern that it alone matches.
func globQuoted(path string) string {
	var out []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[':
			out = append(out, '[', path[i], ']')
		default:
			out = append(out, path[i])
		}
	}
	return string(out)
}
