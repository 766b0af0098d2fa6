package pipeline

import (
	"context"
	"sync"
	"time"

	"memoir"
	"memoir/secrets"
	"memoir/store"
)

// An account adds up what one piece of work spends on metered models, whatever
// becomes of the work: also when it fails, panics or is waited for no longer.
type account struct {
	of     store.Call // what the ledger is told of each call: which work it is for
	budget *budget    // of the project that it is for, if that has limits of its own

	mu      sync.Mutex
	spent   memoir.Usage
	bytes   int64         // asked in the calls whose input tokens are known
	told    memoir.Usage  // by the worker, of models that are not metered
	flying  memoir.Usage  // what calls under way are estimated to spend
	landed  chan struct{} // closed when none is; nil if none ever was
	barred  bool          // a limit kept a call from being made
	excess  *excess       // the call that was too large for a limit, if one was
	fault   error         // the ledger could not be written
	refused bool          // a call was not made, its model being out of service
	failing bool          // its last call failed
	from    int           // calls to the model that were answered when the failing began

	scanners []*secrets.Scanner // by whose rules answers are redacted; none: the run's
	counts   secrets.Counts     // what that took out
}

type accountKey struct{}

// begin opens an account for what is done with the context.
func begin(ctx context.Context, of store.Call) (context.Context, *account) {
	a := &account{of: of}
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
func (a *account) takeoff(expected memoir.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.flying.Calls == 0 {
		a.landed = make(chan struct{})
	}
	a.flying = a.flying.Add(expected)
}

// land enters what a call spent.
func (a *account) land(expected, used memoir.Usage, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent, a.bytes = a.spent.Add(used), a.bytes+bytes
	if a.flying = less(a.flying, expected); a.flying.Calls == 0 {
		a.flying = memoir.Usage{} // without what is lost in adding up prices
		close(a.landed)
	}
}

func (a *account) bar() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.barred = true
}

// exceed enters that a call is too large for a limit.
func (a *account) exceed(e *excess) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.excess = e
}

// tooLarge is the call that no run would have room for; nil if there was none.
func (a *account) tooLarge() *excess {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.excess
}

// refuse enters that a call was not made because nobody serves it.
func (a *account) refuse() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = true
}

func (a *account) isRefused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// heard enters how a call ended, and how many calls to its model had been answered by then.
func (a *account) heard(err error, answered int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.failing = false
	} else if !a.failing {
		a.failing, a.from = true, answered
	}
}

// failure says since how many answers to anybody the work has been failing, if it is.
func (a *account) failure() (from int, failing bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.from, a.failing
}

func (a *account) isBarred() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.barred
}

// hasSpent reports whether a call has ended that cost something.
func (a *account) hasSpent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent.InputTokens+a.spent.OutputTokens > 0
}

// fail enters that no call can be made for want of a ledger.
func (a *account) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = err
}

func (a *account) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fault
}

// tell enters what a worker says that it spent. It counts if no call was metered.
func (a *account) tell(u memoir.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = a.told.Add(u)
}

// total is what was spent so far. Calls under way count by their estimate, as in the ledger.
func (a *account) total() (u memoir.Usage, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u = a.spent.Add(a.flying); u.Calls == 0 {
		return a.told, 0
	}
	return u, a.bytes
}

// landWithin is how long calls may take to notice that they were given up. Those to a
// server end at once; a program that is deaf to what it is asked is made to end after
// half a second, and what it started with it, which nobody would do once we are gone.
const landWithin = 800 * time.Millisecond

// settled is total once the calls under way have ended. Those of work that was given
// up end at once, but need not have ended yet.
func (a *account) settled() (u memoir.Usage, bytes int64) {
	a.mu.Lock()
	landed, flying := a.landed, a.flying.Calls
	a.mu.Unlock()
	if flying > 0 {
		select {
		case <-landed:
		case <-time.After(landWithin):
		}
	}
	return a.total()
}
