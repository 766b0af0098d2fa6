package store

import (
	"context"
	"errors"
	"os"

	"github.com/mattn/go-sqlite3"

	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// durability of a transaction: the value of SQLite's synchronous.
type durability string

const (
	durable durability = "FULL"   // once committed, it survives a loss of power
	quick   durability = "NORMAL" // a loss of power may take the last commits, never more
)

// durably runs fn in a write transaction that survives power loss once committed.
func (s *Store) durably(ctx context.Context, fn func(tx) error) error {
	return s.write(ctx, durable, fn)
}

// quickly runs fn in a write transaction whose commit may be lost with the power,
// together with those after it: for what can be found out or done again.
func (s *Store) quickly(ctx context.Context, fn func(tx) error) error {
	return s.write(ctx, quick, fn)
}

// turn waits until nothing else in this process writes; done ends the turn. The error is
// errReadOnly, or the cause of a context that is done.
func (s *Store) turn(ctx context.Context) (done func(), err error) {
	if s.writer == nil {
		return nil, errReadOnly
	}
	select {
	case s.writing <- struct{}{}:
		return func() { <-s.writing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Store) write(ctx context.Context, how durability, fn func(tx) error) error {
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.inTurn(ctx, how, fn)
}

// inTurn is write for one whose turn it is.
func (s *Store) inTurn(ctx context.Context, how durability, fn func(tx) error) error {
	if failpoint.Before("begin") != nil {
		return errFull
	}
	err := s.transact(ctx, s.writer, "PRAGMA synchronous = "+string(how)+"; BEGIN IMMEDIATE", func(t tx) error {
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

// batched is a write that waits to be committed together with others.
type batched struct {
	fn   func(tx) error
	done chan struct{} // closed once err is set
	err  error
}

// errBatch is the result of a write whose batch ended without one.
var errBatch = errors.New("the transaction was aborted")

// together is durably for writes of several workers at once: those that wait for their
// turn share one transaction, and so one flush of the disk. If one of them fails, each is
// run again in a transaction of its own, so fn must give the same when it is repeated.
func (s *Store) together(ctx context.Context, fn func(tx) error) error {
	if s.writer == nil {
		return errReadOnly
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failpoint.Enabled { // how many writes meet depends on time, and tests count them
		return s.durably(ctx, fn)
	}
	b := &batched{fn: fn, done: make(chan struct{}), err: errBatch}
	s.batch.Lock()
	s.waitingWrites = append(s.waitingWrites, b)
	s.batch.Unlock()
	select {
	case <-b.done:
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
		s.commitBatch(ctx)
		<-b.done
	}
	return b.err
}

// commitBatch runs all writes that wait, for one whose turn it is.
func (s *Store) commitBatch(ctx context.Context) {
	s.batch.Lock()
	all := s.waitingWrites
	s.waitingWrites = nil
	s.batch.Unlock()
	for _, b := range all {
		defer close(b.done)
	}
	if len(all) > 1 {
		err := s.inTurn(ctx, durable, func(t tx) error {
			for _, b := range all {
				if err := b.fn(t); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			for _, b := range all {
				b.err = nil
			}
			return
		}
	}
	for _, b := range all {
		b.err = s.inTurn(ctx, durable, b.fn)
	}
}

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
	if info, err := os.Lstat(s.reservePath()); err == nil && info.Mode().IsRegular() && info.Size() == reserveSize {
		return nil
	}
	_ = os.Remove(s.reservePath()) // a link is not written through, a pipe not waited for
	f, err := os.OpenFile(s.reservePath(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return storageError(err, "reserving room for database %s", s.path)
	}
	_, err = f.Write(make([]byte, reserveSize))
	if err = errors.Join(err, f.Close()); err != nil {
		return storageError(errors.Join(err, os.Remove(s.reservePath())), "reserving %d KiB for database %s",
			reserveSize>>10, s.path)
	}
	return nil
}

// withReserve runs fn in a quick write transaction, and again with the room of the reserve, and
// then with what the write-ahead log can give, if the disk has none. Nothing else in this
// process writes meanwhile: it would take the room.
func (s *Store) withReserve(ctx context.Context, fn func(tx) error) error {
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
	if err = s.inTurn(ctx, quick, fn); !isFull(err) {
		return err
	}
	// What is in the log takes room in the database before the log gives any back, so this
	// comes last: a log that others read may give none.
	if _, failed := s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); failed != nil && !isFull(failed) {
		return errors.Join(err, failed)
	}
	return s.inTurn(ctx, quick, fn)
}
