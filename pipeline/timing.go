package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"memoir"
	"memoir/store"
)

// retryPolicy says when failed sessions are tried again.
func (r *run) retryPolicy() store.Policy {
	m := r.opts.Settings.Memories
	return store.Policy{MaxAttempts: m.MaxAttempts, Base: seconds(m.Stage1RetryDelaySeconds)}
}

// projectRetryPolicy says when failed projects are tried again.
func (r *run) projectRetryPolicy() store.Policy {
	m := r.opts.Settings.Memories
	return store.Policy{MaxAttempts: m.MaxAttempts, Base: seconds(m.Phase2RetryDelaySeconds)}
}

// keepWithin is what is left for making live what was paid for when a run is interrupted,
// which is to exit within a second.
const keepWithin = 400 * time.Millisecond

// handOver is how long a consolidator may take to say what it had made when a run is interrupted.
const handOver = 150 * time.Millisecond

// grace is how long a step may take once a run is interrupted.
func (r *run) grace(usual time.Duration) time.Duration { return cmp.Or(r.opts.Grace, usual) }

// lasting is a context that outlasts another by a time.
func lasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	return outlasting(ctx, func(error) time.Duration { return by })
}

// keeping is lasting, unless the other context ended because a lease was lost: then it ends
// at once.
func keeping(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	return outlasting(ctx, func(cause error) time.Duration {
		if memoir.CodeOf(cause) == memoir.CodeLeaseLost {
			return 0
		}
		return by
	})
}

func outlasting(ctx context.Context, by func(cause error) time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		select {
		case <-time.After(by(cause)):
		case <-longer.Done():
		}
		cancel(cause)
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// apart runs fn in a goroutine of its own. When ctx ends, fn gets a moment to hand over what it
// has, and is then waited for no longer, however deaf to ctx it is: what it returns is dropped.
func apart[T any](ctx context.Context, r *run, moment time.Duration, fn func() (T, error)) (T, error) {
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
	}
	select {
	case out := <-done:
		return out.value, out.err
	case <-time.After(moment):
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
	r.log.Error("panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()))
	*err = memoir.Errorf(memoir.CodeInternal, "this is a defect of memoir: please report it", "unexpected: %v", v)
}
