package store

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/internal/failpoint"
)

// durability of a transaction: the value of the pragma synchronous.
type durability string

const (
	durable durability = "FULL"   // once committed, it survives a loss of power
	quick   durability = "NORMAL" // a loss of power may lose the last commits, never damage the database
)

// durably runs fn in a write transaction that survives power loss once committed.
func (s *Store) durably(ctx context.Context, fn func(tx)) error {
	return s.write(ctx, durable, fn)
}

// quickly runs fn in a write transaction that a loss of power may undo, together with later ones. It is for
// data that can be read or computed again.
func (s *Store) quickly(ctx context.Context, fn func(tx)) error {
	return s.write(ctx, quick, fn)
}

// Alone calls change while no other process writes files that are neither sessions nor part of a memory: journals,
// histories, conversations, the token. The kernel releases the lock of a process that dies. Lock order: files first,
// then the database. So change may write to the database, but no transaction calls Alone, nor does change. If others
// hold the lock for longer than the busy timeout, the error has the code memoir.CodeBusy.
func (s *Store) Alone(ctx context.Context, change func() error) error {
	if s.writer == nil {
		return errReadOnly
	}
	dir := filepath.Join(filepath.Dir(s.path), "projects")
	if err := failpoint.MkdirAll(dir, 0o700); err != nil {
		return storageError(err, "creating %s", dir)
	}
	var unlock func() error
	err := s.patiently(ctx, func() (err error) {
		if unlock, err = lockFolder(dir); err != nil && err != errLocked {
			return storageError(err, "locking %s", dir)
		}
		return err
	})
	if err == errLocked {
		return memoir.Errorf(memoir.CodeBusy, "wait until it ends, then try again",
			"another memoir process was writing files in %s for %s", dir, s.busy)
	}
	if err != nil {
		return err
	}
	defer unlock()
	return change()
}

// turn waits until no other goroutine of this process writes; done ends the turn. The error is errReadOnly,
// or the cause of a context that has ended.
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

func (s *Store) write(ctx context.Context, how durability, fn func(tx)) error {
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.inTurn(ctx, how, fn)
}

// inTurn is write for a caller that has the turn.
func (s *Store) inTurn(ctx context.Context, how durability, fn func(tx)) error {
	if failpoint.Before("begin") != nil {
		return errFull
	}
	err := s.transact(ctx, s.writer, "PRAGMA synchronous = "+string(how)+"; BEGIN IMMEDIATE", func(t tx) {
		if fn(t); t.ok() && failpoint.Before("commit") != nil {
			t.fail(errFull)
		}
	})
	if err == nil {
		failpoint.After("committed")
	}
	return err
}

var errFull = sqlite3.Error{Code: sqlite3.ErrFull}

// batched is a write that waits to be committed in a batch.
type batched struct {
	fn   func(tx)
	done chan struct{} // closed once err is set
	err  error
}

// errBatch is the result of a write whose batch panicked.
var errBatch = errors.New("the transaction was aborted")

// together is durably for concurrent writes of several workers: writes that wait for their turn share one
// transaction, and so one flush of the disk. If one of them fails, each is run again in its own transaction,
// so fn must be repeatable.
func (s *Store) together(ctx context.Context, fn func(tx)) error {
	if s.writer == nil {
		return errReadOnly
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failpoint.Enabled { // the size of a batch depends on timing, and tests count writes
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

// commitBatch runs all waiting writes, for a caller that has the turn.
func (s *Store) commitBatch(ctx context.Context) {
	s.batch.Lock()
	all := s.waitingWrites
	s.waitingWrites = nil
	s.batch.Unlock()
	for _, b := range all {
		defer close(b.done)
	}
	if len(all) > 1 {
		err := s.inTurn(ctx, durable, func(t tx) {
			for _, b := range all {
				b.fn(t)
			}
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
