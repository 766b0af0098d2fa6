package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/internal/disk"
)

const (
	corruptHint = "`memoir run` goes on with the backup, if there is one; `memoir doctor` checks it"
	storageHint = "make room on the disk, or make the folder and the file writable for you"
	busyHint    = "another program holds the database; wait for it, or end it, and try again"
)

var errReadOnly = memoir.Errorf(memoir.CodeInternal, "", "database was opened for reading only")

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
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if lacks(e) {
		return memoir.Errorf(memoir.CodeCorrupt, "move it aside: the next run opens the backup",
			"%s: a part of database %s is missing: %w", doing, s.path, err)
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
	}
	return fmt.Errorf("%s: database %s: %w", doing, s.path, err)
}

// lacks reports that a statement names a part of the schema that the database has not:
// somebody dropped a table or an index, or deleted its entry. SQLite has no code for it.
func lacks(e sqlite3.Error) bool {
	return e.Code == sqlite3.ErrError && (strings.HasPrefix(e.Error(), "no such ") || e.Error() == "no query solution")
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
