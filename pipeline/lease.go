package pipeline

import (
	"context"
	"time"

	"memoir"
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

// heartbeat is how often a lease is extended: two beats may be missed before it runs out.
func (r *run) heartbeat(lease time.Duration) time.Duration {
	return min(seconds(r.opts.Settings.Memories.HeartbeatSeconds), lease/3)
}

// leaseUntil is on the clock of leases, which Options.Now does not move.
func (r *run) leaseUntil(duration time.Duration) time.Time { return lease.Now().Add(duration) }

// keepSession keeps the lease of a session that was claimed at attempt.
func (r *run) keepSession(
	ctx context.Context, claim store.Claim, attempt time.Time,
) (held context.Context, release func()) {
	return lease.Keep(ctx, lease.Options{
		Lease: r.stage1Lease(), Interval: r.heartbeat(r.stage1Lease()), Since: attempt,
		What: "session " + claim.Session.ID,
		Extend: func(ctx context.Context) (bool, error) {
			lost, err := r.store.ExtendClaims(ctx, []string{claim.Token}, r.leaseUntil(r.stage1Lease()))
			return len(lost) == 0, err
		},
	})
}

// keepProject keeps the lease of a project that was claimed at attempt.
func (r *run) keepProject(
	ctx context.Context, name string, claim *store.ProjectClaim, attempt time.Time,
) (held context.Context, release func()) {
	return lease.Keep(ctx, lease.Options{
		Lease: r.phase2Lease(), Interval: r.heartbeat(r.phase2Lease()), Since: attempt,
		What: "project " + name,
		Extend: func(ctx context.Context) (bool, error) {
			return r.store.ExtendProject(ctx, *claim, r.leaseUntil(r.phase2Lease()))
		},
	})
}

// hold claims a project that need not be due.
func (r *run) hold(ctx context.Context, id string) (store.ProjectClaim, error) {
	options := store.ProjectClaimOptions{Holder: r.holder, Lease: r.phase2Lease(), Always: true}
	claim, _, err := r.store.ClaimProject(ctx, id, options)
	return claim, err
}

// letGo gives a claim back; if that fails, it is free when this process ends.
func (r *run) letGo(ctx context.Context, claim store.ProjectClaim) {
	_ = r.store.GiveBackProject(context.WithoutCancel(ctx), claim)
}

// holding claims a project, which it waits for, and does something under its lease. What do
// leaves of the claim is given back.
func (r *run) holding(
	ctx context.Context, id string, wait time.Duration, do func(context.Context, *store.ProjectClaim) error,
) error {
	var claim store.ProjectClaim
	var attempt time.Time
	err := untilFree(ctx, wait, func() (err error) {
		attempt = time.Now()
		claim, err = r.hold(ctx, id)
		return err
	})
	if memoir.CodeOf(err) == memoir.CodeBusy {
		return memoir.Errorf(memoir.CodeBusy, memoir.HintOf(err), "busy: %w", err)
	}
	if err != nil {
		return err
	}
	held, release := r.keepProject(ctx, id, &claim, attempt)
	defer release()
	defer r.letGo(ctx, claim)
	return do(held, &claim)
}

// holdBoth claims two projects, which it waits for. While one is busy the other is not held:
// nobody else has to wait for it, and its lease does not run out.
func (r *run) holdBoth(ctx context.Context, first, second string) (map[string]store.ProjectClaim, error) {
	claims := map[string]store.ProjectClaim{}
	err := untilFree(ctx, r.opts.Wait, func() error {
		one, err := r.hold(ctx, first)
		if err != nil {
			return err
		}
		other, err := r.hold(ctx, second)
		if err != nil {
			r.letGo(ctx, one)
			first, second = second, first // which is the one to wait for
			return err
		}
		claims[first], claims[second] = one, other
		return nil
	})
	if memoir.CodeOf(err) == memoir.CodeBusy {
		err = memoir.Errorf(memoir.CodeBusy, memoir.HintOf(err), "project %s is busy: %w", first, err)
	}
	return claims, err
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
