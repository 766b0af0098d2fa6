package pipeline

import (
	"context"

	"memoir"
	"memoir/store"
)

// ownFault reports an error that no session or project is to blame for: our disk
// or our database. It costs none of them an attempt, so that a run after the fault
// is mended finds everything as it would have been.
func ownFault(err error) bool {
	switch memoir.CodeOf(err) {
	case memoir.CodeStorage, memoir.CodeCorrupt, memoir.CodeBusy:
		return true
	}
	return false
}

// halt gives a claim back because of a fault that ends the run: the other sessions
// would meet it too.
func (r *run) halt(ctx context.Context, claim store.Claim, err error) {
	// A full disk may refuse this as well; the claim is then free when the process has ended.
	_ = r.store.GiveBack(context.WithoutCancel(ctx), []store.Claim{claim})
	r.mu.Lock()
	r.report.Phase1.GivenBack++
	r.mu.Unlock()
	r.fail(err)
}

// fail ends the run with an error; the first one counts.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		r.fault = err
	}
}

// faulty is the error that ends the run, if a worker found one.
func (r *run) faulty() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}
