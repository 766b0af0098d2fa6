package serve

import (
	"context"
	"sync"
	"time"

	"memoir/store"
)

// shareFor is the time after opening in which requests share the open registry, since opening it takes longer than most
// requests. It is short, so that other processes can soon lock or replace the database.
const shareFor = time.Second

// A sharedRegistry shares the open registry among requests.
type sharedRegistry struct {
	open func(context.Context) (*store.Store, error)
	mu   sync.Mutex
	now  *opened // nil: the next use opens the registry
}

// opened is an open registry with its number of users.
type opened struct {
	*store.Store
	users int
}

// use returns the registry and a function that returns it, which the caller must call once.
func (l *sharedRegistry) use(ctx context.Context) (*store.Store, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		st, err := l.open(context.WithoutCancel(ctx)) // other requests use it, too
		if err != nil {
			return nil, nil, err
		}
		opened := &opened{st, 1} // the timer counts as a user
		l.now = opened
		time.AfterFunc(shareFor, func() { l.release(opened, true) })
	}
	of := l.now
	of.users++
	return of.Store, func() { l.release(of, false) }, nil
}

// release ends one use of the registry and closes it after the last. expired ends its sharing.
func (l *sharedRegistry) release(of *opened, expired bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if expired {
		l.now = nil
	}
	if of.users--; of.users == 0 {
		_ = of.Close() // the registry was only read
	}
}
