package pipeline

import (
	"context"
	"maps"
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
	refused error         // why a call was not made; nil: all were

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
		a.flying = memoir.Usage{} // without what rounding loses in adding up prices
		close(a.landed)
	}
}

// refuse enters why a call was not made.
func (a *account) refuse(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = err
}

// refusal is why a call was not made; nil if all were.
func (a *account) refusal() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

// hasSpent reports whether a call has ended that cost something.
func (a *account) hasSpent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent.InputTokens+a.spent.OutputTokens > 0
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
// server end at once; a program that ignores what it is asked is ended after half a second.
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

// redactBy names the rules that count for the work, which begins: what was taken out of
// answers before does not count for it.
func (a *account) redactBy(scanners ...*secrets.Scanner) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scanners, a.counts = scanners, secrets.Counts{}
}

func (a *account) scannersOr(scanner *secrets.Scanner) []*secrets.Scanner {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.scanners) == 0 {
		return []*secrets.Scanner{scanner}
	}
	return a.scanners
}

// redacted enters what was taken out of an answer that is used.
func (a *account) redacted(counts secrets.Counts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts == nil {
		a.counts = secrets.Counts{}
	}
	a.counts.Merge(counts)
}

// redactions are what was taken out of the answers that were used.
func (a *account) redactions() secrets.Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.counts)
}
