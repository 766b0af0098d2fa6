package store

import (
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

// set opens the database once more, for a process whose wall clock was set by so much
// before it began, and returns its holder too.
func set(t *testing.T, path string, by time.Duration) (*Store, lease.Holder) {
	t.Helper()
	s := openAt(t, path, Options{Now: func() time.Time { return noon.Add(by) }})
	holder := lease.Self()
	if holder.Zero == 0 {
		t.Skip("the monotonic clock can't be read here")
	}
	holder.Zero += by.Milliseconds()
	return s, holder
}

func TestALeaseIsNotTakenFromAProcessWhoseClockWasSet(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		s, _ := newDue(t)
		other, holder := set(t, s.Path(), by)
		o := claimOptions(1)
		o.Holder = holder
		claims := claim(t, other, o)
		c, ok, err := other.ClaimProject(t.Context(), project, ProjectClaimOptions{Holder: holder, Lease: time.Minute})
		if must(t, err); !ok || len(claims) != 1 {
			t.Fatalf("claimed %v, project %v", ids(claims), ok)
		}
		if taken := claimSuspects(t, s); len(taken) > 0 {
			t.Errorf("set by %s: %v was taken over", by, ids(taken))
		}
		if _, _, err := s.ClaimProject(t.Context(), project, forMinutes); memoir.CodeOf(err) != memoir.CodeBusy {
			t.Errorf("set by %s: the project was taken over: %v", by, err)
		}
		now, err := s.Status(t.Context())
		if must(t, err); len(now.Running) != 2 || now.Running[0].Stale || now.Running[1].Stale {
			t.Errorf("set by %s: status has %+v", by, now.Running)
		}
		must(t, other.StoreExtraction(t.Context(), claims[0], worth("kept")))
		must(t, other.Publish(t.Context(), c, GenerationRecord{N: 1}, func() error { return nil }))
	}
}

func TestADelayDoesNotOutlastAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	policy := Policy{Base: time.Hour}
	clock.now = noon.Add(24 * time.Hour) // the clock is a day ahead
	must(t, s.Fail(t.Context(), claimOne(t, s), Failure{Message: "timeout", Transient: true}, policy))
	must(t, s.Fail(t.Context(), claimProject(t, s), Failure{Message: "timeout", Transient: true}, policy))
	if c, ok, err := s.ClaimProject(t.Context(), project, forMinutes); err != nil || ok || c.Declined != DeclinedBackoff {
		t.Fatalf("the delay does not hold: %v, %v", ok, err)
	}
	clock.now = noon.Add(24*time.Hour - clockSlack/2) // as clocks are corrected all the time
	if _, ok, err := s.ClaimProject(t.Context(), project, forMinutes); err != nil || ok {
		t.Fatalf("the delay does not hold: %v, %v", ok, err)
	}
	clock.now = noon // it was set back
	now, err := s.Status(t.Context())
	if must(t, err); len(now.Failed) != 2 || !now.Failed[0].Next.IsZero() || !now.Failed[1].Next.IsZero() {
		t.Errorf("status says %+v", now.Failed)
	}
	claimProject(t, s)
	if got := claim(t, s, claimOptions(9)); len(got) != 2 {
		t.Errorf("claimed %v", ids(got))
	}
}
