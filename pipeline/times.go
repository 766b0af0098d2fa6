package pipeline

import (
	"time"

	"memoir/lease"
	"memoir/store"
)

// seconds turns a setting in seconds into a duration.
func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func (r *run) stage1Lease() time.Duration {
	return seconds(r.opts.Settings.Memories.Stage1LeaseSeconds)
}
func (r *run) phase2Lease() time.Duration {
	return seconds(r.opts.Settings.Memories.Phase2LeaseSeconds)
}

// heartbeat is how often a lease is extended: often enough that two beats may be
// missed before it runs out.
func (r *run) heartbeat(lease time.Duration) time.Duration {
	return min(seconds(r.opts.Settings.Memories.HeartbeatSeconds), lease/3)
}

// leaseUntil is on the clock of leases, which Options.Now does not move.
func (r *run) leaseUntil(duration time.Duration) time.Time { return lease.Now().Add(duration) }

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
