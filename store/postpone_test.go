package store

import (
	"testing"
	"time"

	"memoir"
)

func TestAPostponedSessionKeepsItsAttemptsUnlessOthersAreServed(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 2)
	p := Policy{Base: time.Hour}
	f := Failure{Message: "down", Transient: true, Model: "a/b", PostponedFor: 10 * time.Minute}
	postpone := func(c Claim, want bool) {
		t.Helper()
		counted, err := s.PostponeClaim(t.Context(), c, f, p)
		must(t, err)
		if counted != want {
			t.Fatalf("counted %v, want %v", counted, want)
		}
	}
	first := claimOne(t, s)
	id := first.Session.ID
	postpone(first, false)
	if reasonOf(t, s, id) != memoir.ReasonBackoff {
		t.Errorf("it is %s", reasonOf(t, s, id))
	}
	other := claimOne(t, s)
	if other.Session.ID == id {
		t.Fatal("it did not wait")
	}
	_, err := s.ExtendClaims(t.Context(), []string{other.Token}, clock.Now().Add(24*time.Hour))
	must(t, err)
	// Nobody was served since: it may wait as often as it takes.
	for range 5 {
		clock.advance(10 * time.Minute)
		postpone(claimOne(t, s), false)
	}
	clock.advance(time.Minute)
	result := worth("x")
	result.Extraction.SessionKey, result.Extraction.Model = other.Session.Key(), "a/b"
	must(t, s.StoreExtraction(t.Context(), other, result))
	clock.advance(9 * time.Minute)
	postpone(claimOne(t, s), true)
	status, err := s.Status(t.Context())
	must(t, err)
	if len(status.Failed) != 1 || status.Failed[0].Attempts != 1 || !status.Failed[0].Next.Equal(clock.Now().Add(time.Hour)) {
		t.Errorf("%+v", status.Failed)
	}
	clock.advance(time.Hour)
	f.RetryAfter = 3 * time.Hour
	postpone(claimOne(t, s), false) // since then nobody was
	if status, err = s.Status(t.Context()); err != nil || !status.Failed[0].Next.Equal(clock.Now().Add(3*time.Hour)) || status.Failed[0].Attempts != 1 {
		t.Errorf("%+v, %v", status.Failed, err)
	}
	_, err = s.PostponeClaim(t.Context(), first, f, p)
	wantCode(t, err, memoir.CodeLeaseLost)
}
