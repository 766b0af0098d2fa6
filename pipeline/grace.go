package pipeline

import (
	"cmp"
	"context"
	"time"

	"memoir"
)

// keepWithin is what is left for making live what was paid for when a run is interrupted,
// which is to exit within a second.
const keepWithin = 400 * time.Millisecond

// handOver is how long a consolidator may take to say what it had made when a run is interrupted.
const handOver = 150 * time.Millisecond

// grace is how long a step may take once a run is interrupted.
func (r *run) grace(usual time.Duration) time.Duration { return cmp.Or(r.opts.Grace, usual) }

// keeping is a context that outlasts another by so long, unless that ended as the lease
// was lost.
func keeping(ctx context.Context, within time.Duration) (context.Context, func()) {
	kept, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if memoir.CodeOf(cause) != memoir.CodeLeaseLost {
			select {
			case <-time.After(within):
			case <-kept.Done():
			}
		}
		cancel(cause)
	})
	return kept, func() {
		stop()
		cancel(nil)
	}
}
