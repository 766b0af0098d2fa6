package store

import (
	"testing"
	"time"

	"memoir"
)

var transient = Failure{Message: "timeout", Transient: true}

func TestWhenAFailedJobIsTriedAgain(t *testing.T) {
	t.Parallel()
	p := Policy{MaxAttempts: 9, Base: time.Minute}
	tests := []struct {
		name   string
		n      int
		f      Failure
		p      Policy
		random float64
		dead   bool
		delay  time.Duration
	}{
		{"after the first failure", 1, transient, p, 0.5, false, time.Minute},
		{"after the third", 3, transient, p, 0.5, false, 4 * time.Minute},
		{"no later than the longest delay", 8, transient, p, 0.5, false, 64 * time.Minute},
		{"a quarter sooner", 1, transient, p, 0, false, 45 * time.Second},
		{"a quarter later", 1, transient, p, 1, false, 75 * time.Second},
		{"never, when the attempts are used up", 9, transient, p, 0.5, true, 0},
		{"never, when it would fail again", 1, Failure{}, p, 0.5, true, 0},
		{"not before the other side said", 1, Failure{Transient: true, RetryAfter: time.Hour}, p, 0.5, false, time.Hour},
		{"by the backoff when that is longer", 3, Failure{Transient: true, RetryAfter: time.Second}, p, 0.5, false, 4 * time.Minute},
		{"twice by default", 2, transient, Policy{Base: time.Second}, 0.5, false, 2 * time.Second},
		{"not a third time by default", 3, transient, Policy{Base: time.Second}, 0.5, true, 0},
		{"within bounds, however often it failed", 2000, transient, Policy{MaxAttempts: 9999, Base: time.Second}, 0.5, false, 64 * time.Second},
	}
	for _, tt := range tests {
		if dead, delay := tt.p.next(tt.n, tt.f, tt.random); dead != tt.dead || delay != tt.delay {
			t.Errorf("%s: dead %v, delay %v; want %v, %v", tt.name, dead, delay, tt.dead, tt.delay)
		}
	}
}

func TestThreeFailuresMakeASessionDeadUntilItChanges(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 1)
	p := Policy{Base: 2 * time.Minute}
	for attempt, wait := range []time.Duration{2 * time.Minute, 4 * time.Minute, 0} {
		c := claimOne(t, s)
		if c.Attempt != attempt+1 {
			t.Fatalf("attempt %d, want %d", c.Attempt, attempt+1)
		}
		fail(t, s, c, transient, p)
		if wait > 0 {
			clock.advance(wait - time.Millisecond)
			if wantIDs(t, claim(t, s, claimOptions(1))); reasonOf(t, s, "s00") != memoir.ReasonBackoff {
				t.Fatalf("while it waits it is %s", reasonOf(t, s, "s00"))
			}
			clock.advance(time.Millisecond)
		}
	}
	clock.advance(240 * time.Hour)
	wantIDs(t, claim(t, s, claimOptions(1)))
	found, err := s.FindSessions(t.Context(), "s00")
	if must(t, err); found[0].Reason != memoir.ReasonDead || found[0].Error != "timeout" {
		t.Fatalf("session %+v", found[0])
	}
	scan(t, s, session("s00", grown))
	if c := claimOne(t, s); c.Attempt != 1 {
		t.Fatalf("new content has %d attempts behind it", c.Attempt-1)
	}
}

func TestNewContentDoesNotShortenADelay(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 1)
	fail(t, s, claimOne(t, s), Failure{Message: "limit", Transient: true, RetryAfter: time.Hour}, Policy{Base: time.Minute})
	scan(t, s, session("s00", grown))
	wantIDs(t, claim(t, s, claimOptions(1)))
	clock.advance(time.Hour)
	wantIDs(t, claim(t, s, claimOptions(1)), "s00")
}

// Who mended the cause has everything tried again, and with all attempts.
func TestWhatRetryRevives(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                        string
		status                      string
		attempts, crashes           int
		wait                        time.Duration
		revived                     bool
		afterStatus                 string
		afterAttempts, afterCrashes int
	}{
		{"failed", "error", 2, 0, time.Hour, true, "pending", 0, 0},
		{"given up after deaths", "dead", 0, 3, 0, true, "pending", 0, 1},
		{"given up after failures and deaths", "dead", 3, 2, 0, true, "pending", 0, 1},
		{"a process died over it once", "pending", 0, 1, 0, true, "pending", 0, 1},
		{"it failed after a death, and waits", "error", 1, 2, time.Hour, true, "pending", 0, 1},
		{"never tried", "pending", 0, 0, 0, false, "pending", 0, 0},
		{"done", "done", 0, 0, 0, false, "done", 0, 0},
		{"under way", "running", 1, 2, 0, false, "running", 1, 2},
	} {
		for _, kind := range []string{kindExtract, kindConsolidate} {
			s, clock := newQueue(t, 1)
			key := "codex:s00"
			if kind == kindConsolidate {
				key = project
			}
			must(t, s.quickly(t.Context(), func(t tx) {
				t.exec(`INSERT INTO job (kind, key, status, attempts, crashes, next_attempt_at) VALUES (?, ?, ?, ?, ?, ?)
						ON CONFLICT (kind, key) DO UPDATE SET status = excluded.status, attempts = excluded.attempts, crashes = excluded.crashes, next_attempt_at = excluded.next_attempt_at`,
					kind, key, tt.status, tt.attempts, tt.crashes, millis(clock.now.Add(tt.wait)))
			}))
			none, err := s.Retry(t.Context(), "codex:none")
			must(t, err)
			n, err := s.Retry(t.Context(), key, "codex:none")
			must(t, err)
			var status string
			var attempts, crashes int
			var next int64
			must(t, s.read(t.Context(), func(t tx) {
				t.get(`SELECT status, attempts, crashes, next_attempt_at FROM job WHERE kind = ? AND key = ?`, []any{kind, key}, &status, &attempts, &crashes, &next)
			}))
			if none != 0 || (n == 1) != tt.revived || status != tt.afterStatus || attempts != tt.afterAttempts || crashes != tt.afterCrashes || tt.revived && next != 0 {
				t.Errorf("%s %s: %d revived; %s, %d attempts, %d crashes, next %d", kind, tt.name, n, status, attempts, crashes, next)
			}
		}
	}
}

func TestAPostponedSessionKeepsItsAttemptsUnlessOthersAreServed(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 2)
	p := Policy{Base: time.Hour}
	f := Failure{Message: "down", Transient: true, Model: "a/b", Postpone: 10 * time.Minute}
	postpone := func(c Claim, want bool) {
		t.Helper()
		counted, err := s.Fail(t.Context(), c, f, p)
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
	extend(t, s, other, clock.Now().Add(24*time.Hour))
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
	wantCode(t, failed(s, first, f, p), memoir.CodeLeaseLost)
}
