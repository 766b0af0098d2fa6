package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"memoir"
	"memoir/model"
	"memoir/rollout"
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

// failing reports that the system could not read a session's file, for another reason
// than that it is gone or forbidden: its disk fails, or is away. What is in the file
// is not to blame.
func failing(err error) bool {
	var system *fs.PathError
	_, withheld := rollout.Withheld(err)
	return memoir.CodeOf(err) == memoir.CodeUnreadable && errors.As(err, &system) && !withheld
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

// endsRun is a fault of a model that ends the run.
type endsRun struct{ error }

// Unwrap is the fault itself.
func (e endsRun) Unwrap() error { return e.error }

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

// withheld reports that a session cannot be read for a reason that is not in what was said
// in it: its file is gone, forbidden or no file, or was written over by something else
// since it was registered. It is unreadable, as if the scan had seen it so.
func withheld(s memoir.Session, err error) bool {
	_, ok := rollout.Withheld(err)
	return ok || memoir.CodeOf(err) == memoir.CodeUnreadable &&
		slices.ContainsFunc(s.Files, func(f memoir.File) bool { return !untouched(f) })
}

// unservedDelay is the longest that a session or project waits whose model did not
// serve, where the server asked for nothing.
const unservedDelay = 10 * time.Minute

// failed ends a claim whose work failed, by who is to blame.
func (p *phase1) failed(ctx context.Context, claim store.Claim, err error) {
	if limited(err) || errors.Is(err, errUnserved) {
		outcome := store.OutcomeInterrupted
		if limited(err) {
			outcome = store.OutcomeLimit
		}
		p.giveBack(ctx, claim)
		p.enter(ctx, claim, outcome)
		return
	}
	switch blame := p.judge(p.extractor.Name(), err); {
	case blame == ends:
		p.enter(ctx, claim, store.OutcomeFailed)
		p.halt(ctx, claim, p.ofModel(err))
	case blame == postponed, failing(err):
		p.recordFailure(ctx, claim, err, true)
	case ownFault(err):
		p.enter(ctx, claim, store.OutcomeInterrupted)
		p.halt(ctx, claim, err)
	case withheld(claim.Session, err):
		p.leaveUnread(ctx, claim, err)
	default:
		p.recordFailure(ctx, claim, err, false)
	}
}

// recordFailure records what a session failed of. A session that cannot be read stays so
// until its file changes; other errors are tried again. One that is postponed counts no
// attempt unless that happened to it before and the model served others since.
func (p *phase1) recordFailure(ctx context.Context, claim store.Claim, cause error, postpone bool) {
	ctx = context.WithoutCancel(ctx)
	failure := p.failureOf(p.extractor.Name(), cause)
	counted, err := true, error(nil)
	if postpone {
		counted, err = p.store.Postpone(ctx, claim, failure, p.retryPolicy())
	} else {
		err = p.store.Fail(ctx, claim, failure, p.retryPolicy())
	}
	said := failure.Message
	if !counted {
		said += " (no attempt counted)"
	}
	p.fold(claim.Session.ID, said, hintOf(cause))
	p.count(func(r *Phase1Report) {
		if counted {
			r.Claimed++
			r.Failed++
		} else {
			r.GivenBack++
			r.Postponed++
		}
	})
	if err != nil {
		p.enter(ctx, claim, store.OutcomeLost)
	}
	if err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		p.warn(fmt.Sprintf("session %s: its failure could not be recorded: %v", claim.Session.ID, err),
			memoir.HintOf(err))
	}
	if ownFault(err) {
		_ = p.store.GiveBack(ctx, []store.Claim{claim}) // or a process would seem to have died over it
		p.fail(err)
	}
	p.extracting("", false, 0)
}

// lost reports a claim that another process has taken over. Nothing of the result
// is stored, but what it cost stands in the ledger all the same.
func (p *phase1) lost(ctx context.Context, claim store.Claim) {
	p.count(func(r *Phase1Report) { r.GivenBack++ })
	p.warn(fmt.Sprintf("session %s: its lease was lost; another run has it", claim.Session.ID), "")
	p.enter(ctx, claim, store.OutcomeLost)
}

// leaveUnread gives such a session back.
func (p *phase1) leaveUnread(ctx context.Context, claim store.Claim, cause error) {
	path, _ := rollout.Withheld(cause)
	message := p.redact(cause.Error())
	err := p.store.LeaveUnread(context.WithoutCancel(ctx), claim, path, message)
	switch {
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, claim)
		return
	case err != nil:
		p.enter(ctx, claim, store.OutcomeFailed)
		p.halt(ctx, claim, err)
		return
	}
	p.enter(ctx, claim, store.OutcomeFailed)
	p.count(func(r *Phase1Report) { r.GivenBack++; r.Unread++ })
	p.mention("left out: "+message, memoir.HintOf(cause))
	p.extracting("", false, 0)
}

// enter puts into the ledger what became of work on a session that nothing is stored of.
func (p *phase1) enter(ctx context.Context, claim store.Claim, outcome string) {
	p.endWork(ctx, claim.Token, claim.Session.ProjectID, outcome)
}

// halt gives a claim back because of a fault that ends the run: the other sessions
// would meet it too.
func (p *phase1) halt(ctx context.Context, claim store.Claim, err error) {
	// A full disk may refuse this as well; the claim is then free when the process has ended.
	_ = p.store.GiveBack(context.WithoutCancel(ctx), []store.Claim{claim})
	p.mu.Lock()
	p.report.Phase1.GivenBack++
	p.mu.Unlock()
	p.fail(err)
}

// failureOf is what is recorded of work with a model that failed.
func (r *run) failureOf(name string, cause error) store.Failure {
	return store.Failure{
		Message: r.redact(cause.Error()), Transient: memoir.CodeOf(cause) != memoir.CodeUnreadable,
		RetryAfter: retryAfter(cause), PostponedFor: unservedDelay,
		Model: name, Outcome: outcomeOf(cause),
	}
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
