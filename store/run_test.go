package store

import (
	"fmt"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

func TestTheLatestRunsAreKeptWithTheirEnds(t *testing.T) {
	t.Parallel()
	s, clock := newStore(t)
	for i := range runsKept + 5 {
		must(t, s.BeginRun(t.Context(), fmt.Sprint(i), lease.Self()))
		clock.advance(time.Minute)
	}
	end := RunEnd{Outcome: RunPartly, Reason: "a limit", Hint: "raise it", Left: 3}
	must(t, s.EndRun(t.Context(), fmt.Sprint(runsKept+3), end))
	runs, err := s.Runs(t.Context())
	must(t, err)
	if len(runs) != runsKept || !runs[0].Ended.IsZero() || runs[0].Holder != lease.Self() {
		t.Fatalf("%d, %+v", len(runs), runs[0])
	}
	if got := runs[1]; got.RunEnd != end || !got.Ended.Equal(clock.Now()) || !got.Began.Equal(clock.Now().Add(-2*time.Minute)) {
		t.Errorf("%+v", got)
	}
	must(t, s.EndRun(t.Context(), "unknown", end)) // its beginning could not be noted
}

func TestForgettingASessionDropsWhatRunsSaidOfTheirEnds(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	must(t, s.BeginRun(t.Context(), "r", lease.Self()))
	must(t, s.EndRun(t.Context(), "r", RunEnd{Outcome: RunFailed, Reason: "it quotes s00", Hint: "x", Left: 1}))
	c := hold(t, s, project)
	if _, err := s.BeginForgetting(t.Context(), c, Forgetting{Keys: []string{"codex:s00"}}); err != nil {
		t.Fatal(err)
	}
	runs, err := s.Runs(t.Context())
	must(t, err)
	if got := runs[0].RunEnd; got != (RunEnd{Outcome: RunFailed, Left: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestAForesightWritesNothingAndLeavesOutWhatIsHeld(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 5)
	held := claimOne(t, s)
	w := dayAndMonth
	w.Cap = 3
	counts, eligible, err := s.Foresee(t.Context(), w)
	must(t, err)
	wantCounts(t, counts, map[memoir.Reason]int{"eligible": 3, "over_cap": 2})
	if held.Session.ID != "s00" || fmt.Sprint(eligible) != "[codex:s01 codex:s02]" {
		t.Errorf("%s is held, %v are eligible", held.Session.ID, eligible)
	}
	if got := reasonOf(t, s, "s04"); got == memoir.ReasonOverCap {
		t.Error("the registry was changed")
	}
}

func TestAProjectsStandingTellsWhatItRestsOnAndWaitsFor(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 5)
	store := func(text string) {
		t.Helper()
		c := claimOne(t, s)
		r := worth(text)
		r.Extraction.EndedAt = c.Session.UpdatedAt
		must(t, s.StoreExtraction(t.Context(), c, r))
	}
	standing := func() Standing {
		t.Helper()
		all, err := s.Standings(t.Context())
		must(t, err)
		return all[project]
	}
	for range 3 {
		store("a")
	}
	if got := standing(); got.New != 3 || got.Changed+got.Withdrawn+got.Inputs != 0 || got.Asked {
		t.Errorf("before the first: %+v", got)
	}
	clock.advance(time.Hour)
	c := hold(t, s, project)
	inputs := map[string]string{"codex:s00": "h", "codex:s01": "h", "codex:s02": "h"}
	publish(t, s, c, GenerationRecord{N: 1, At: clock.Now(), Inputs: inputs})
	if got := standing(); got.New+got.Changed+got.Withdrawn != 0 || got.Inputs != 3 || !got.Newest.Equal(noon.Add(-24*time.Hour)) || !got.Consolidated.Equal(clock.Now()) {
		t.Errorf("published: %+v", got)
	}
	store("new")
	scan(t, s, session("s01", grown))
	store("changed")
	must(t, s.SetDisabled(t.Context(), "codex:s02", true))
	must(t, s.Enqueue(t.Context(), project))
	if got := standing(); got.New != 1 || got.Changed != 1 || got.Withdrawn != 1 || !got.Asked || got.Inputs != 3 {
		t.Errorf("due: %+v", got)
	}
	c = hold(t, s, project)
	must(t, s.FailProject(t.Context(), c, Failure{Message: "429", Transient: true, RetryAfter: time.Hour, Model: "a/b"}, Policy{}))
	if got := standing(); !got.RetryAt.Equal(clock.Now().Add(time.Hour)) || got.Dead {
		t.Errorf("failed: %+v", got)
	}
	status, err := s.Status(t.Context())
	must(t, err)
	if len(status.Failed) != 1 || status.Failed[0].Model != "a/b" || status.Failed[0].Suspect {
		t.Errorf("%+v", status.Failed)
	}
	c = hold(t, s, project)
	must(t, s.FailProject(t.Context(), c, Failure{Message: "no"}, Policy{}))
	if got := standing(); !got.Dead {
		t.Errorf("given up: %+v", got)
	}
}

func TestOnlyRowsThatBelongToNothingAreDeleted(t *testing.T) {
	t.Parallel()
	s, _ := newFull(t)
	must(t, s.DeleteOrphans(t.Context()))
	before := rows(t, s)
	must(t, s.durably(t.Context(), func(tx tx) error {
		_, err := tx.exec(`INSERT INTO job (kind, key, status) VALUES ('extract', 'codex:gone', 'dead'), ('consolidate', 'gone', 'done'), ('extract', 'codex:held', 'running')`)
		if err == nil {
			_, err = tx.exec(`INSERT INTO redaction (scope, key, rule, n) VALUES ('extract', 'codex:gone', 'jwt', 1), ('consolidate', 'gone', 'jwt', 1)`)
		}
		return err
	}))
	must(t, s.DeleteOrphans(t.Context()))
	after := rows(t, s)
	if before["job"]++; fmt.Sprint(after) != fmt.Sprint(before) { // somebody works on the third
		t.Errorf("%v instead of %v", after, before)
	}
}
