package pipeline

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"memoir"
)

// apart runs fn in a goroutine of its own. When ctx ends, fn is waited for no
// longer, however deaf to ctx it is: what it returns is dropped.
func apart[T any](ctx context.Context, r *run, fn func() (T, error)) (T, error) {
	return apartFor(ctx, r, 0, fn)
}

// apartFor is apart for what has something to hand over when ctx ends: it is given a moment
// for that.
func apartFor[T any](ctx context.Context, r *run, moment time.Duration, fn func() (T, error)) (T, error) {
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
