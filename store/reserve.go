package store

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"memoir/internal/disk"
)

// reserveSize is more than giving back all claims of a run takes, in bytes.
const reserveSize = 256 << 10

// logSize is by how much the database, or its log, may grow in a run as a rule: twice
// what SQLite lets a log grow to before it is moved into the database.
const logSize = 8 << 20

// reservePath is a file that holds nothing but room on the disk: a claim must be given
// back where there is none, or it would look as if a process had died over its work.
func (s *Store) reservePath() string { return s.path + "-reserve" }

// reserve takes the room, unless it is taken. Without it nothing is begun.
func (s *Store) reserve() error {
	size := int64(logSize)
	if info, err := os.Stat(s.path); err == nil {
		size += info.Size()
	}
	if err := disk.Sizes(size); err != nil {
		return err
	}
	if info, err := os.Stat(s.reservePath()); err == nil && info.Size() == reserveSize {
		return nil
	}
	f, err := os.OpenFile(s.reservePath(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return storageError(err, "reserving room for database %s", s.path)
	}
	_, err = f.Write(make([]byte, reserveSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return storageError(errors.Join(err, os.Remove(s.reservePath())), "reserving %d KiB for database %s", reserveSize>>10, s.path)
	}
	return nil
}

// release runs fn in a quick write transaction, and again with the room of the reserve, and
// then with what the write-ahead log can give, if the disk has none. Nothing else in this
// process writes meanwhile: it would take the room.
func (s *Store) release(ctx context.Context, fn func(tx) error) error {
	err := s.quickly(ctx, fn)
	if !isFull(err) {
		return err
	}
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	_ = os.Remove(s.reservePath())
	if err = s.inTurn(ctx, s.quick, fn); !isFull(err) {
		return err
	}
	// What is in the log takes room in the database before the log gives any back, so this
	// comes last: a log that others read may give none.
	if _, failed := s.quick.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); failed != nil && !isFull(failed) {
		return errors.Join(err, failed)
	}
	return s.inTurn(ctx, s.quick, fn)
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
