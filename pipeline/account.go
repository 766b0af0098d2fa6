package pipeline

import (
	"context"
	"sync"
	"time"

	"memoir"
)

// An account adds up what one piece of work spends on metered models, whatever
// becomes of the work: also when it fails, panics or is waited for no longer.
type account struct {
	phase string

	mu     sync.Mutex
	spent  memoir.Usage
	bytes  int64         // asked in the calls whose input tokens are known
	told   memoir.Usage  // by the worker, of models that are not metered
	flying int           // calls under way
	landed chan struct{} // closed when none is; nil if none ever was
	barred bool          // a limit kept a call from being made
}

type accountKey struct{}

// begin opens an account for what is done with the context.
func begin(ctx context.Context, phase string) (context.Context, *account) {
	a := &account{phase: phase}
	return context.WithValue(ctx, accountKey{}, a), a
}

// accountOf is the account of a context; one that nobody reads if there is none.
func accountOf(ctx context.Context) *account {
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		return a
	}
	return &account{}
}

// takeoff enters that a call begins.
func (a *account) takeoff() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.flying == 0 {
		a.landed = make(chan struct{})
	}
	a.flying++
}

// land enters what a call spent.
func (a *account) land(u memoir.Usage, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent, a.bytes = a.spent.Add(u), a.bytes+bytes
	if a.flying--; a.flying == 0 {
		close(a.landed)
	}
}

func (a *account) bar() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.barred = true
}

func (a *account) isBarred() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.barred
}

// tell enters what a worker says that it spent. It counts if no call was metered.
func (a *account) tell(u memoir.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = a.told.Add(u)
}

// total is what was spent so far.
func (a *account) total() (u memoir.Usage, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.spent.Calls == 0 {
		return a.told, 0
	}
	return a.spent, a.bytes
}

// landWithin is how long calls may take to notice that they were given up. Those to a
// server end at once; a program that is deaf to what it is asked is made to end after
// half a second, and what it started with it, which nobody would do once we are gone.
const landWithin = 800 * time.Millisecond

// settled is total once the calls under way have ended. Those of work that was given
// up end at once, but need not have ended yet.
func (a *account) settled() (u memoir.Usage, bytes int64) {
	a.mu.Lock()
	landed, flying := a.landed, a.flying
	a.mu.Unlock()
	if flying > 0 {
		select {
		case <-landed:
		case <-time.After(landWithin):
		}
	}
	return a.total()
}
