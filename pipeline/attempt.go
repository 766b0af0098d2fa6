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
	"memoir/lease"
	"memoir/model"
	"memoir/rollout"
	"memoir/store"
)

// A verdict says how a failure is treated.
type verdict int

const (
	itsOwn    verdict = iota // caused by the session or project: an attempt is counted
	postponed                // caused by a server or a disk: tried again later, no attempt is counted
	returned                 // every job would fail, or nothing was tried: released, no attempt is counted
)

// judge classifies a failure. It also counts failures of a model.
func (r *run) judge(name string, err error) verdict {
	switch {
	case ownFault(err), isRefused(err), memoir.CodeOf(err) == memoir.CodeConfig:
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
			m.failJob(why, true)
			return returned
		case serverFault(failed):
			m.failJob(why, failed.RetryAfter > retries.MaxWait)
			return postponed
		case failed.Class == model.ClassProgram:
			m.failJob(why, false)
		}
	case errors.As(err, &answer):
		m.failJob(fmt.Errorf("%s gave no usable answer: %w", name, err), false)
	}
	return itsOwn
}

// modelFault reports an error that every call of a model would get: the server is unreachable, the key is
// refused, the model does not exist, or its program does not start.
func modelFault(e *model.Error) bool {
	switch e.Class {
	case model.ClassUnreachable, model.ClassMissing:
		return true
	case model.ClassDenied:
		return !forbidden(e)
	}
	return false
}

// serverFault reports an error that the server, a setting or a single request may have caused: the server is
// busy or failing, does not accept such calls, or forbids the request.
func serverFault(e *model.Error) bool {
	return forbidden(e) || e.Class == model.ClassLimited || e.Class == model.ClassTemporary ||
		e.Class == model.ClassInvalid
}

// forbidden reports a status that some servers use for moderation of a request.
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

// ownFault reports an error of memoir's disk or database, which no session or project caused. It ends the
// run; a later run, after the fault is repaired, does the same work.
func ownFault(err error) bool {
	return coded(err, memoir.CodeStorage, memoir.CodeCorrupt, memoir.CodeBusy)
}

// limited reports the error of a call that was not made because of a limit.
func limited(err error) bool { return coded(err, memoir.CodeLimit) }

// isRefused reports the error of a call that the meter refused.
func isRefused(err error) bool { return limited(err) || errors.Is(err, errUnserved) }

// failing reports that the system could not read a session's file although it exists and is permitted: its
// disk fails or is not mounted. The content of the file is not the cause.
func failing(err error) bool {
	var system *fs.PathError
	_, withheld := rollout.Withheld(err)
	return memoir.CodeOf(err) == memoir.CodeUnreadable && errors.As(err, &system) && !withheld
}

// withheld reports that a session cannot be read for a reason other than its content: its file is missing,
// not permitted or not a regular file, or was overwritten since it was registered. The session becomes
// unreadable, as if the scan had found it so.
func withheld(s memoir.Session, err error) bool {
	_, ok := rollout.Withheld(err)
	return ok || memoir.CodeOf(err) == memoir.CodeUnreadable &&
		slices.ContainsFunc(s.Files, func(f memoir.File) bool { return !untouched(f) })
}

// outcomeOf is the ledger's outcome for work that failed with an error.
func outcomeOf(err error) string {
	var answer *memoir.AnswerError
	switch {
	case limited(err):
		return store.OutcomeLimit
	case isRefused(err), ownFault(err), memoir.CodeOf(err) == memoir.CodeInterrupted:
		return store.OutcomeInterrupted
	case errors.As(err, &answer), memoir.CodeOf(err) == memoir.CodeInvalid:
		return store.OutcomeRefused
	}
	return store.OutcomeFailed
}

// endWork enters the outcome of work without a stored result into the ledger. If it cannot, the work stays unfinished.
func (r *run) endWork(ctx context.Context, token, projectID, outcome string) {
	ctx, cancel := lasting(ctx, endWithin)
	defer cancel()
	_ = r.store.EndWork(ctx, token, projectID, outcome)
}

// unservedDelay is the longest delay of a session or project whose model's server was unavailable, unless
// the server asks for more.
const unservedDelay = 10 * time.Minute

// failureOf returns the failure to record for failed work with a model.
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

func hintOf(err error) string {
	hint := memoir.HintOf(err)
	var failed *model.Error
	if hint == "" && errors.As(err, &failed) {
		hint = failed.Hint()
	}
	return hint
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func (r *run) phase1Lease() time.Duration {
	return seconds(r.opts.Settings.Memories.Phase1LeaseSeconds)
}

func (r *run) phase2Lease() time.Duration {
	return seconds(r.opts.Settings.Memories.Phase2LeaseSeconds)
}

// keep renews the lease of work that was claimed at attempt. The interval allows for two missed heartbeats.
func (r *run) keep(
	ctx context.Context, what string, claim store.Claimed, lasts time.Duration, attempt time.Time,
) (held context.Context, release func()) {
	return lease.Keep(ctx, lease.Options{
		Lease: lasts, Interval: min(seconds(r.opts.Settings.Memories.HeartbeatSeconds), lasts/3), Since: attempt, What: what,
		Extend: func(ctx context.Context) (bool, error) {
			return r.store.Extend(ctx, claim, lease.Now().Add(lasts)) // by the clock of leases, which Options.Now does not move
		},
	})
}

// untilFree repeats try as long as its error has the code memoir.CodeBusy, for at most wait.
func untilFree(ctx context.Context, wait time.Duration, try func() error) error {
	deadline := time.Now().Add(wait)
	for {
		err := try()
		switch {
		case memoir.CodeOf(err) != memoir.CodeBusy, wait == 0:
			return err
		case time.Now().After(deadline):
			return memoir.Errorf(memoir.CodeBusy, "the other process is still busy: try again later", "%w", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(200*time.Millisecond, wait)):
		}
	}
}

// maxRounds bounds how often a generation is made again because a person edited the live files meanwhile.
const maxRounds = 5

// again calls do again if a person edited the live files meanwhile.
func again(do func() error) error {
	for round := 1; ; round++ {
		if err := do(); memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds {
			return err
		}
	}
}

// retryPolicy says when failed work is tried again.
func (r *run) retryPolicy(delaySeconds int) store.Policy {
	return store.Policy{MaxAttempts: r.opts.Settings.Memories.MaxAttempts, Base: seconds(delaySeconds)}
}

// keepWithin is how long an interrupted run, which must exit within a second, may take to publish the
// result of a paid call.
const keepWithin = 400 * time.Millisecond

// Apart runs fn in its own goroutine. When ctx ends, Apart returns its cause at once, even if fn ignores ctx; the
// result of fn is then dropped. A panic of fn becomes an error.
func Apart[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() { done <- out }()
		defer survive(&out.err)
		out.value, out.err = fn()
	}()
	select {
	case out := <-done:
		return out.value, out.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// survive is deferred around code that reads text of others. It turns a panic into the failure of one
// session or project. Otherwise the panic would end this process and each later one at the same place.
func survive(err *error) {
	if v := recover(); v != nil {
		*err = memoir.Errorf(memoir.CodeInternal, "this is a bug in memoir: please report it", "unexpected: %v", v)
	}
}

// retries says how often a call is tried again before its job fails.
var retries = model.RetryPolicy{Attempts: 4, Base: time.Second, MaxWait: time.Minute}
