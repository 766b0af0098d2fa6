package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	case model.ClassInvalid:
		return failed.Always
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

// unservedDelay is the longest that a session or project waits whose model did not
// serve, where the server asked for nothing.
const unservedDelay = 10 * time.Minute

// endWith ends the run with a fault of the model. The session whose text a server
// forbade is left for later, so that it cannot end each run if it is to blame itself.
func (r *run) endWith(ctx context.Context, claim store.Claim, spent extracted, err error) {
	var failed *model.Error
	if errors.As(err, &failed) && forbidden(failed) {
		r.postpone(ctx, claim, spent, err)
		r.fail(r.ofModel(err))
		return
	}
	r.enter(ctx, claim, spent, store.OutcomeFailed)
	r.halt(ctx, claim, r.ofModel(err))
}

// postpone gives a claim back whose model did not serve. It counts no attempt unless
// that happened to this session before and the model served others since.
func (r *run) postpone(ctx context.Context, claim store.Claim, spent extracted, cause error) {
	ctx = context.WithoutCancel(ctx)
	failure, answer := r.failureOf(phaseExtract, claim.Session.ProjectID, claim.Session.Key(), cause)
	failure.Usage, failure.InputBytes, failure.Duration = spent.Usage, spent.InputBytes, spent.Duration
	counted, err := r.store.PostponeClaim(ctx, claim, failure, r.retryPolicy())
	r.dropLost(err, answer)
	r.count(func(p *Phase1Report) {
		if counted {
			p.Claimed++
			p.Failed++
		} else {
			p.GivenBack++
			p.Postponed++
		}
	})
	said := failure.Message
	if !counted {
		said += " (no attempt counted)"
	}
	r.fold(claim.Session.ID, said, hintOf(cause))
	if err != nil {
		r.enter(ctx, claim, spent, store.OutcomeLost)
	}
	if err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		r.warn(fmt.Sprintf("session %s: its failure could not be recorded: %v", claim.Session.ID, err), memoir.HintOf(err))
	}
	if ownFault(err) {
		_ = r.store.GiveBack(ctx, []store.Claim{claim}) // or a process would seem to have died over it
		r.fail(err)
	}
	r.finished()
}

// failureOf is what is recorded of work that failed; what it cost is yet to be filled in.
// The answer that it is about is kept at a path, if there is one.
func (r *run) failureOf(phase, projectID, key string, cause error) (failure store.Failure, answer string) {
	name := r.extractor.Name()
	if phase == phaseConsolidate {
		name = r.consolidator.Name()
	}
	message := r.redact(cause.Error())
	if answer = r.keepAnswer(phase, projectID, key, cause); answer != "" {
		message += "; the answer is kept in " + answer
	}
	return store.Failure{
		Message:   message,
		Transient: memoir.CodeOf(cause) != memoir.CodeUnreadable, RetryAfter: retryAfter(cause),
		Model: name, Run: r.id, Outcome: outcomeOf(cause), PostponedFor: unservedDelay,
	}, answer
}

// patience waits before another try of a call to a model, as long as there is sense in one.
func (r *run) patience(name string) func(context.Context, time.Duration) error {
	h := r.meter.service(name)
	return func(ctx context.Context, d time.Duration) error {
		return h.sleep(ctx, func(ctx context.Context) error {
			if r.opts.Sleep != nil {
				return r.opts.Sleep(ctx, d)
			}
			return model.Sleep(ctx, d)
		})
	}
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
