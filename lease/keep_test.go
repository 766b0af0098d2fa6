package lease

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"memoir"
)

// keep runs Keep inside a bubble whose clock is fake.
func keep(t *testing.T, o Options, body func(ctx context.Context, stop func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Since = time.Now()
		ctx, stop := Keep(t.Context(), o)
		defer stop()
		body(ctx, stop)
	})
}

func lostAfter(t *testing.T, ctx context.Context, began time.Time, want time.Duration) {
	t.Helper()
	<-ctx.Done()
	if code := memoir.CodeOf(context.Cause(ctx)); code != memoir.CodeLeaseLost {
		t.Fatalf("cancelled because of %v, with code %q", context.Cause(ctx), code)
	}
	if got := time.Since(began); got != want {
		t.Fatalf("cancelled after %s, want %s", got, want)
	}
}

func TestAHeartbeatKeepsTheLeaseForAsLongAsTheWorkLasts(t *testing.T) {
	var beats int
	keep(t, Options{Lease: 2 * time.Minute, Interval: 30 * time.Second, Extend: func(context.Context) (bool, error) {
		beats++
		return true, nil
	}}, func(ctx context.Context, stop func()) {
		time.Sleep(10*time.Minute + time.Second)
		if ctx.Err() != nil {
			t.Fatal(context.Cause(ctx))
		}
		stop()
		if beats != 20 {
			t.Fatalf("%d heartbeats in ten minutes, want 20", beats)
		}
	})
}

func TestALeaseThatAnotherTookCancelsTheWorkAtTheNextHeartbeat(t *testing.T) {
	keep(t, Options{Lease: 2 * time.Minute, Interval: 30 * time.Second, What: "session codex:0199",
		Extend: func(context.Context) (bool, error) { return false, nil }},
		func(ctx context.Context, stop func()) {
			lostAfter(t, ctx, time.Now(), 30*time.Second)
			if got := context.Cause(ctx).Error(); got != "lease on session codex:0199 was lost to another process" {
				t.Fatalf("message %q", got)
			}
		})
}

func TestABusyDatabaseIsAskedAgainSoon(t *testing.T) {
	var attempts int
	keep(t, Options{Lease: 2 * time.Minute, Interval: 40 * time.Second, Extend: func(context.Context) (bool, error) {
		if attempts++; attempts <= 3 {
			return false, errors.New("database is locked")
		}
		return true, nil
	}}, func(ctx context.Context, stop func()) {
		time.Sleep(40*time.Second + 3*5*time.Second + time.Second)
		if ctx.Err() != nil {
			t.Fatal(context.Cause(ctx))
		}
		if stop(); attempts != 4 {
			t.Fatalf("%d attempts, want 4", attempts)
		}
	})
}

func TestTheTrustWindowClosesWhenNoHeartbeatSucceeds(t *testing.T) {
	keep(t, Options{Lease: 2 * time.Minute, Interval: 30 * time.Second, Extend: func(context.Context) (bool, error) {
		return false, errors.New("database is locked")
	}}, func(ctx context.Context, stop func()) { lostAfter(t, ctx, time.Now(), 2*time.Minute) })
}

func TestTheTrustWindowCountsFromTheStartOfTheAttemptThatSucceeded(t *testing.T) {
	attempts := 0 // known to Extend alone
	keep(t, Options{Lease: 2 * time.Minute, Interval: 30 * time.Second, Extend: func(context.Context) (bool, error) {
		if attempts++; attempts == 1 {
			time.Sleep(20 * time.Second) // succeeds, but only after waiting
			return true, nil
		}
		return false, errors.New("database is locked")
	}}, func(ctx context.Context, stop func()) {
		// The one success began at 30 s and lasts two minutes from there, not from 50 s.
		lostAfter(t, ctx, time.Now(), 150*time.Second)
	})
}

func TestTheTrustWindowOfTheClaimCountsFromItsOwnStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		time.Sleep(50 * time.Second) // the claim itself waited for the database
		ctx, stop := Keep(t.Context(), Options{Lease: time.Minute, Interval: 30 * time.Second, Since: began,
			Extend: func(context.Context) (bool, error) { return true, nil }})
		defer stop()
		lostAfter(t, ctx, began, time.Minute)
	})
}

func TestAHeartbeatThatHangsDoesNotHoldTheWindowOpen(t *testing.T) {
	release := make(chan struct{})
	synctest.Test(t, func(t *testing.T) {
		release = make(chan struct{})
		ctx, stop := Keep(t.Context(), Options{Lease: 2 * time.Minute, Interval: 30 * time.Second,
			Since: time.Now(), Extend: func(context.Context) (bool, error) { <-release; return true, nil }})
		lostAfter(t, ctx, time.Now(), 2*time.Minute)
		close(release) // succeeds, too late
		stop()
		if memoir.CodeOf(context.Cause(ctx)) != memoir.CodeLeaseLost {
			t.Fatal("a late success opened the window again")
		}
	})
}

func TestAHeartbeatIsToldWhenTheWindowCloses(t *testing.T) {
	keep(t, Options{Lease: 2 * time.Minute, Interval: 30 * time.Second, Extend: func(ctx context.Context) (bool, error) {
		<-ctx.Done()
		return false, ctx.Err()
	}}, func(ctx context.Context, stop func()) { lostAfter(t, ctx, time.Now(), 2*time.Minute) })
}

func TestStoppingEndsTheHeartbeatsAndSaysNothingOfALostLease(t *testing.T) {
	var beats int
	keep(t, Options{Lease: 2 * time.Minute, Interval: 30 * time.Second, Extend: func(context.Context) (bool, error) { beats++; return true, nil }},
		func(ctx context.Context, stop func()) {
			time.Sleep(45 * time.Second) // one heartbeat
			stop()
			stop()
			if !errors.Is(context.Cause(ctx), context.Canceled) {
				t.Fatalf("cause %v", context.Cause(ctx))
			}
			time.Sleep(time.Hour)
			if beats != 1 {
				t.Fatalf("%d heartbeats, want 1", beats)
			}
		})
}

func TestTheEndOfTheParentEndsTheWorkWithTheParentsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupted := errors.New("interrupted")
		parent, cancel := context.WithCancelCause(t.Context())
		ctx, stop := Keep(parent, Options{Lease: time.Minute, Interval: time.Second, Since: time.Now(), Extend: func(context.Context) (bool, error) { return true, nil }})
		defer stop()
		cancel(interrupted)
		if <-ctx.Done(); context.Cause(ctx) != interrupted {
			t.Fatalf("cause %v", context.Cause(ctx))
		}
	})
}
