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
