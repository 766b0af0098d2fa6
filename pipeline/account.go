package pipeline

import (
	"context"
	"maps"
	"sync"

	"memoir"
	"memoir/secrets"
	"memoir/store"
)

// An account belongs to one piece of work: it says in which name its calls are entered into
// the ledger, by whose rules their answers are redacted, and why one was refused.
type account struct {
	of     store.Call // what the ledger is told of each call: which work it is for
	budget *budget    // of the project that it is for, if that has limits of its own

	mu       sync.Mutex
	charged  bool               // a call has ended that cost something
	refused  error              // why a call was not made; nil: all were
	scanners []*secrets.Scanner // by whose rules answers are redacted; none: the run's
	counts   secrets.Counts     // what that took out of the answers that were used
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

// charge enters what a call spent.
func (a *account) charge(u memoir.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.charged = a.charged || u.InputTokens+u.OutputTokens > 0
}

// paid reports whether a call has ended that cost something.
func (a *account) paid() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.charged
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
