package lease

import (
	"context"
	"sync"
	"time"

	"memoir"
)

// Options says how Keep keeps a lease.
type Options struct {
	// Lease is how long each extension lasts; above 0.
	Lease time.Duration
	// Interval is the time between heartbeats, shorter than Lease; 0 means a
	// quarter of it.
	Interval time.Duration
	// Since is when the attempt that won the lease began, as time.Now gave it
	// (with its monotonic reading); zero means now.
	Since time.Time
	// Extend sets the end of the stored lease to Lease from now. ok is false if another process has
	// the lease. After an error, for instance of a busy database, Extend is called again until the
	// trust window closes; then its context ends.
	Extend func(ctx context.Context) (ok bool, err error)
	// What names the work in the error, such as "session codex:0199".
	What string
}

// Keep sends heartbeats for a lease that the caller has just won. The returned context is cancelled, with a
// cause of code memoir.CodeLeaseLost, when the lease is lost or the trust window closes. The caller must
// call stop, which ends the heartbeats, waits for one that is under way, and cancels the context.
func Keep(ctx context.Context, o Options) (kept context.Context, stop func()) {
	if o.Interval == 0 {
		o.Interval = o.Lease / 4
	}
	if o.Extend == nil || o.Interval <= 0 || o.Interval >= o.Lease {
		panic("lease: Keep needs Extend and an Interval between 0 and Lease")
	}
	if o.Since.IsZero() {
		o.Since = time.Now()
	}
	if o.What == "" {
		o.What = "the work"
	}
	kept, cancel := context.WithCancelCause(ctx)
	// A separate timer closes the window even while Extend hangs.
	window := time.AfterFunc(time.Until(o.Since.Add(o.Lease)), func() {
		cancel(memoir.Errorf(memoir.CodeLeaseLost, "another process may do the work now; run again",
			"lease on %s was not extended within %s", o.What, o.Lease))
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.beat(kept, cancel, window)
	}()
	return kept, sync.OnceFunc(func() {
		cancel(context.Canceled)
		<-done
		window.Stop()
	})
}

// beat runs until the context ends.
func (o Options) beat(ctx context.Context, cancel context.CancelCauseFunc, window *time.Timer) {
	// A failed heartbeat is repeated before the next regular one.
	again := max(o.Interval/8, time.Millisecond)
	wait := time.NewTimer(o.Interval)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		attempt := time.Now()
		ok, err := o.Extend(ctx)
		switch {
		case err != nil:
			wait.Reset(again)
		case !ok:
			cancel(memoir.Errorf(memoir.CodeLeaseLost, "another process does the work now",
				"lease on %s was lost to another process", o.What))
			return
		default:
			// A window that has closed stays closed: ctx has ended.
			window.Reset(time.Until(attempt.Add(o.Lease)))
			wait.Reset(max(time.Until(attempt.Add(o.Interval)), 0))
		}
	}
}
