package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"memoir"
	"memoir/model"
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

// modelFault reports an error that every call to a model would meet: nobody answers
// there, the key is refused, there is no such model, or its program is gone. As with
// an own fault, no session or project is to blame. What may pass by itself, such as
// a server's limit, is not among them.
func modelFault(err error) bool {
	var failed *model.Error
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Class {
	case model.ClassUnreachable, model.ClassDenied, model.ClassMissing:
		return true
	case model.ClassProgram:
		return errors.Is(failed.Err, fs.ErrNotExist)
	}
	return false
}

// ofModel is a fault of a model as a person is told it. What a server says is foreign text.
func (r *run) ofModel(err error) error {
	return &memoir.Error{Code: memoir.CodeModel, Message: r.redact(err.Error()), Hint: hintOf(err), Err: err}
}

// hintOf says what can be done about an error; empty if nothing is known.
func hintOf(err error) string {
	hint := memoir.HintOf(err)
	var failed *model.Error
	if hint == "" && errors.As(err, &failed) {
		hint = failed.Hint()
	}
	return hint
}

// retryAfter is how long a server asked to be left alone; 0 if it did not.
func retryAfter(err error) time.Duration {
	var failed *model.Error
	if !errors.As(err, &failed) {
		return 0
	}
	return failed.RetryAfter
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
