package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"memoir"
	"memoir/model"
	"memoir/rollout"
	"memoir/store"
)

// A verdict says what becomes of work that failed.
type verdict int

const (
	itsOwn    verdict = iota // the session or project is to blame: an attempt
	postponed                // a server or a disk is to blame: tried again later, no attempt
	returned                 // all work would meet it, or nothing was tried: free at once, no attempt
)

// judge says what becomes of work that failed. Where a model failed it, the model's service is told.
func (r *run) judge(name string, err error) verdict {
	switch {
	case ownFault(err), refused(err), memoir.CodeOf(err) == memoir.CodeConfig:
		return returned
	case failing(err):
		return postponed
	}
	m := r.meter.named(name)
	var failed *model.Error
	var answer *memoir.AnswerError
	switch {
	case m == nil:
	case errors.As(err, &failed):
		switch why := fmt.Errorf("%s is not available: %w", name, err); {
		case modelFault(failed):
			m.fail(why, true)
			return returned
		case serverFault(failed):
			m.fail(why, failed.RetryAfter > retries.MaxWait)
			return postponed
		}
	case errors.As(err, &answer):
		m.fail(fmt.Errorf("%s gave no usable answer: %w", name, err), false)
	}
	return itsOwn
}

// modelFault reports an error that every call to a model would meet: nobody answers
// there, the key is refused, there is no such model, or its program does not start.
func modelFault(e *model.Error) bool {
	switch e.Class {
	case model.ClassUnreachable, model.ClassMissing:
		return true
	case model.ClassDenied:
		return !forbidden(e)
	}
	return false
}

// serverFault reports an error for which the server may be to blame, a setting, or a single
// request: it is busy or broken, takes no such call, or forbids what it is asked.
func serverFault(e *model.Error) bool {
	return forbidden(e) || e.Class == model.ClassLimited || e.Class == model.ClassTemporary ||
		e.Class == model.ClassInvalid
}

// forbidden reports a refusal by which some servers moderate what they are asked.
func forbidden(e *model.Error) bool {
	return e.Class == model.ClassDenied && e.Status == http.StatusForbidden && e.Program == ""
}

// coded reports whether an error, or one that it wraps, has one of these codes.
func coded(err error, codes ...memoir.Code) bool {
	for e := new(memoir.Error); errors.As(err, &e); err = e.Err {
		if slices.Contains(codes, e.Code) {
			return true
		}
	}
	return false
}

// ownFault reports an error that no session or project is to blame for: our disk
// or our database. It ends the run, and a run after the fault is mended finds everything as
// it would have been.
func ownFault(err error) bool {
	return coded(err, memoir.CodeStorage, memoir.CodeCorrupt, memoir.CodeBusy)
}

// limited reports an error of a call that a limit kept from being made.
func limited(err error) bool { return coded(err, memoir.CodeLimit) }

// refused reports an error of a call that the meter did not let be made.
func refused(err error) bool { return limited(err) || errors.Is(err, errUnserved) }

// failing reports that the system could not read a session's file, for another reason
// than that it is gone or forbidden: its disk fails, or is away. What is in the file
// is not to blame.
func failing(err error) bool {
	var system *fs.PathError
	_, withheld := rollout.Withheld(err)
	return memoir.CodeOf(err) == memoir.CodeUnreadable && errors.As(err, &system) && !withheld
}

// withheld reports that a session cannot be read for a reason that is not in what was said
// in it: its file is gone, forbidden or no file, or was written over by something else
// since it was registered. It is unreadable, as if the scan had seen it so.
func withheld(s memoir.Session, err error) bool {
	_, ok := rollout.Withheld(err)
	return ok || memoir.CodeOf(err) == memoir.CodeUnreadable &&
		slices.ContainsFunc(s.Files, func(f memoir.File) bool { return !untouched(f) })
}

// outcomeOf is what the ledger calls work that came to nothing.
func outcomeOf(err error) string {
	var answer *memoir.AnswerError
	switch {
	case limited(err):
		return store.OutcomeLimit
	case refused(err), ownFault(err), memoir.CodeOf(err) == memoir.CodeInterrupted:
		return store.OutcomeInterrupted
	case errors.As(err, &answer), memoir.CodeOf(err) == memoir.CodeInvalid:
		return store.OutcomeRefused
	}
	return store.OutcomeFailed
}

// endWork enters into the ledger what became of work of which nothing is stored.
func (r *run) endWork(ctx context.Context, token, projectID, outcome string) {
	ctx, cancel := lasting(ctx, endWithin)
	defer cancel()
	if err := r.store.EndWork(ctx, token, projectID, outcome); err != nil {
		r.log.Warn("cannot record the outcome of work in the ledger", "error", err)
	}
}

// unservedDelay is the longest that a session or project waits whose model did not
// serve, where the server asked for nothing.
const unservedDelay = 10 * time.Minute

// failureOf is what is recorded of work with a model that failed.
func (r *run) failureOf(name string, cause error, postpone bool) store.Failure {
	f := store.Failure{
		Message: r.redact(cause.Error()), Transient: memoir.CodeOf(cause) != memoir.CodeUnreadable,
		Model: name, Outcome: outcomeOf(cause),
	}
	if postpone {
		f.Postpone = unservedDelay
	}
	if failed := (*model.Error)(nil); errors.As(cause, &failed) {
		f.RetryAfter = failed.RetryAfter
	}
	return f
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
