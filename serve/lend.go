package serve

import (
	"context"
	"sync"
	"time"

	"memoir/store"
)

// lendFor is how long the registry stays open for requests that come after another: opening it takes longer than most
// of them. It is not kept for longer, so that who has to have it alone, or puts another in its place, is not hindered.
const lendFor = time.Second

// A lender lends the registry to requests.
type lender struct {
	open func(context.Context) (*store.Store, error)
	mu   sync.Mutex
	now  *lent // nil: it is to be opened
}

// lent is the registry with how many use it.
type lent struct {
	*store.Store
	users int
}

// borrow returns the registry, which the caller gives back.
func (l *lender) borrow(ctx context.Context) (*store.Store, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		st, err := l.open(context.WithoutCancel(ctx)) // it is for others as well
		if err != nil {
			return nil, nil, err
		}
		opened := &lent{st, 1} // the timer is a user
		l.now = opened
		time.AfterFunc(lendFor, func() { l.giveBack(opened, true) })
	}
	of := l.now
	of.users++
	return of.Store, func() { l.giveBack(of, false) }, nil
}

// giveBack closes the registry after its last user.
func (l *lender) giveBack(of *lent, expired bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if expired {
		l.now = nil
	}
	if of.users--; of.users == 0 {
		_ = of.Close() // what was read was read
	}
}
