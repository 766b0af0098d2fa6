package serve

import (
	"context"
	"sync"
	"time"

	"memoir/store"
)

// lendFor is the time after opening in which requests share the open registry, since opening it takes longer than most
// requests. It is short, so that other processes can soon lock or replace the database.
const lendFor = time.Second

// A lender shares the open registry among requests.
type lender struct {
	open func(context.Context) (*store.Store, error)
	mu   sync.Mutex
	now  *lent // nil: the next borrow opens the registry
}

// lent is an open registry with its number of users.
type lent struct {
	*store.Store
	users int
}

// borrow returns the registry and a function that returns it, which the caller must call once.
func (l *lender) borrow(ctx context.Context) (*store.Store, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		st, err := l.open(context.WithoutCancel(ctx)) // other requests use it, too
		if err != nil {
			return nil, nil, err
		}
		opened := &lent{st, 1} // the timer counts as a user
		l.now = opened
		time.AfterFunc(lendFor, func() { l.giveBack(opened, true) })
	}
	of := l.now
	of.users++
	return of.Store, func() { l.giveBack(of, false) }, nil
}

// giveBack ends one use of the registry and closes it after the last. expired ends its sharing.
func (l *lender) giveBack(of *lent, expired bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if expired {
		l.now = nil
	}
	if of.users--; of.users == 0 {
		_ = of.Close() // the registry was only read
	}
}
