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

// apart runs fn in its own goroutine. When ctx ends, apart returns at once, even if fn ignores ctx; the
// result of fn is then dropped.
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

// survive is deferred around code that reads text of others. It turns a panic into the failure of one
// session or project. Otherwise the panic would end this process and each later one at the same place.
func (r *run) survive(err *error) {
	v := recover()
	if v == nil {
		return
	}
	r.log.Error("panic", "value", r.redact(fmt.Sprint(v)), "stack", string(debug.Stack()))
	*err = memoir.Errorf(memoir.CodeInternal, "this is a bug in memoir: please report it", "unexpected: %v", v)
}

// maxRounds bounds how often a generation is made again because a person edited the live files meanwhile.
const maxRounds = 5
