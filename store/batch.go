package store

import (
	"context"
	"errors"
	"slices"

	"memoir/internal/failpoint"
)

// batched is a write that waits to be committed together with others.
type batched struct {
	fn   func(tx) error
	done chan struct{} // closed once err is set
	err  error
}

// errBatch is the result of a write whose batch ended without one.
var errBatch = errors.New("the transaction was given up")

// together is durably for writes of several workers at once: those that wait for their
// turn share one transaction, and so one flush of the disk. If one of them fails, each is
// run again in a transaction of its own, so fn must give the same when it is repeated.
func (s *Store) together(ctx context.Context, fn func(tx) error) error {
	if s.durable == nil {
		return errReadOnly
	}
	if failpoint.Enabled { // how many writes meet depends on time, and tests count them
		return s.durably(ctx, fn)
	}
	b := &batched{fn: fn, done: make(chan struct{})}
	s.batch.Lock()
	s.waitingWrites = append(s.waitingWrites, b)
	s.batch.Unlock()
	select {
	case <-b.done:
		return b.err
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
		s.commitBatch(ctx)
	case <-ctx.Done():
		if s.leaveBatch(b) {
			return context.Cause(ctx)
		}
	}
	<-b.done
	return b.err
}

// leaveBatch takes a write out of those that wait; false if it is already under way.
func (s *Store) leaveBatch(b *batched) bool {
	s.batch.Lock()
	defer s.batch.Unlock()
	i := slices.Index(s.waitingWrites, b)
	if i >= 0 {
		s.waitingWrites = slices.Delete(s.waitingWrites, i, i+1)
	}
	return i >= 0
}

// commitBatch runs all writes that wait, for one whose turn it is. A write that is under
// way is not ended by the context of another.
func (s *Store) commitBatch(ctx context.Context) {
	s.batch.Lock()
	all := s.waitingWrites
	s.waitingWrites = nil
	s.batch.Unlock()
	for _, b := range all {
		b.err = errBatch
		defer close(b.done)
	}
	if len(all) > 1 {
		err := s.inTurn(ctx, s.durable, func(t tx) error {
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
		b.err = s.inTurn(ctx, s.durable, b.fn)
	}
}
