package pipeline

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"memoir"
	"memoir/lease"
	"memoir/store"
)

// seconds turns a setting in seconds into a duration.
func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func (r *run) stage1Lease() time.Duration {
	return seconds(r.opts.Settings.Memories.Phase1LeaseSeconds)
}

func (r *run) phase2Lease() time.Duration {
	return seconds(r.opts.Settings.Memories.Phase2LeaseSeconds)
}

// keep keeps the lease of work that was claimed at attempt: it is extended as often as two
// beats may be missed before it runs out.
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

// holding claims a project that need not be due, which it waits for, and does something under its
// lease, again if a person edited the live files meanwhile. What do leaves of the claim is given back.
func (r *run) holding(
	ctx context.Context, project memoir.Project, wait time.Duration, do func(context.Context, *consolidation) error,
) error {
	var claim store.ProjectClaim
	var attempt time.Time
	err := untilFree(ctx, wait, func() (err error) {
		attempt = time.Now()
		claim, _, err = r.store.ClaimProject(ctx, project.ID,
			store.ProjectClaimOptions{Holder: r.holder, Lease: r.phase2Lease(), Always: true})
		return err
	})
	if memoir.CodeOf(err) == memoir.CodeBusy {
		return memoir.Errorf(memoir.CodeBusy, memoir.HintOf(err), "busy: %w", err)
	}
	if err != nil {
		return err
	}
	held, release := r.keep(ctx, "project "+project.Name, claim, r.phase2Lease(), attempt)
	defer release()
	defer func() { _ = r.store.GiveBack(ctx, claim) }() // else it is free when this process ends
	for round := 1; ; round++ {
		err := r.surviving(func() error { return do(held, r.workOn(project, &claim)) })
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds {
			return err
		}
	}
}

// untilFree repeats try as long as its error has the code memoir.CodeBusy, for at most wait.
func untilFree(ctx context.Context, wait time.Duration, try func() error) error {
	deadline := time.Now().Add(wait)
	for {
		err := try()
		if memoir.CodeOf(err) != memoir.CodeBusy || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(200*time.Millisecond, wait)):
		}
	}
}

// retryPolicy says when failed work is tried again.
func (r *run) retryPolicy(delaySeconds int) store.Policy {
	return store.Policy{MaxAttempts: r.opts.Settings.Memories.MaxAttempts, Base: seconds(delaySeconds)}
}

// keepWithin is what is left for making live what was paid for when a run is interrupted,
// which is to exit within a second.
const keepWithin = 400 * time.Millisecond

// lasting is a context that outlasts another by a time.
func lasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(by):
		case <-longer.Done():
		}
		cancel(context.Cause(ctx))
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// apart runs fn in a goroutine of its own. When ctx ends, fn is waited for no longer, however
// deaf to ctx it is: what it returns is dropped.
func apart[T any](ctx context.Context, r *run, fn func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() { done <- out }()
		defer r.survive(&out.err)
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

// survive is deferred around what reads text that others wrote. A panic there
// becomes the failure of one session or project instead of ending the process, and
// each later one at the same place.
func (r *run) survive(err *error) {
	v := recover()
	if v == nil {
		return
	}
	r.log.Error("panic", "value", r.redact(fmt.Sprint(v)), "stack", string(debug.Stack()))
	*err = memoir.Errorf(memoir.CodeInternal, "this is a bug in memoir: please report it", "unexpected: %v", v)
}

// surviving is fn whose panic is an error.
func (r *run) surviving(fn func() error) (err error) {
	defer r.survive(&err)
	return fn()
}
