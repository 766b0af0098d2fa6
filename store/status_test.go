package store

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

func TestStatusTellsWhatRunsWhatFailedAndWhatWasGivenUp(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 6)
	claims := claim(t, s, claimOptions(3))
	must(t, s.StoreExtraction(t.Context(), claims[0], worth("a")))
	fail(t, s, claims[1], Failure{Message: "timeout", Transient: true}, Policy{Base: time.Hour})
	fail(t, s, claims[2], Failure{Message: "too long"}, Policy{})
	clock.advance(time.Second)
	claimProject(t, s)
	o := claimOptions(1)
	o.Holder = deadHolder()
	claim(t, s, o)
	clock.advance(time.Second)
	o.Holder = elsewhere()
	claim(t, s, o) // finds the dead one's

	st, err := s.Status(t.Context())
	must(t, err)
	if want := map[string]int{"done": 1, "error": 1, "dead": 1, "running": 2, "pending": 1}; !maps.Equal(st.Jobs, want) {
		t.Errorf("jobs %v, want %v", st.Jobs, want)
	}
	if len(st.Running) != 2 {
		t.Fatalf("running %+v", st.Running)
	}
	first, second := st.Running[0], st.Running[1]
	if first.Kind != "consolidate" || first.Key != project || first.Holder != lease.Self() || !first.Since.Equal(noon.Add(time.Second)) ||
		!first.Until.Equal(noon.Add(3*time.Minute+time.Second)) || first.Stale {
		t.Errorf("running %+v", first)
	}
	if second.Kind != "extract" || second.Key != "codex:s04" || second.Holder != elsewhere() || second.Stale {
		t.Errorf("running %+v", second)
	}
	if len(st.Failed) != 2 || st.Failed[0].Key != "codex:s03" || st.Failed[0].Crashes != 1 || st.Failed[0].Next != nil ||
		st.Failed[1].Key != "codex:s01" || st.Failed[1].Error != "timeout" || st.Failed[1].Attempts != 1 || !st.Failed[1].Next.Equal(noon.Add(time.Hour)) {
		t.Errorf("failed %+v", st.Failed)
	}
	if len(st.Dead) != 1 || st.Dead[0].Key != "codex:s02" || st.Dead[0].Error != "too long" {
		t.Errorf("dead %+v", st.Dead)
	}
	if st.Reasons[memoir.ReasonUpToDate] != 1 || st.Reasons[memoir.ReasonDead] != 1 || st.Reasons[memoir.ReasonBackoff] != 1 {
		t.Errorf("reasons %v", st.Reasons)
	}
	clock.advance(time.Hour)
	if st, err = s.Status(t.Context()); err != nil || !st.Running[0].Stale || !st.Running[1].Stale {
		t.Errorf("running %+v, %v", st.Running, err)
	}
}

func TestTheLastRunIsKeptWithItsEnd(t *testing.T) {
	t.Parallel()
	s, clock := newStore(t)
	must(t, errors.Join(s.BeginRun(t.Context(), "a", lease.Self()), s.BeginRun(t.Context(), "b", lease.Self())))
	end := RunEnd{Outcome: RunPartly, Reason: "a limit", Hint: "raise it"}
	must(t, s.EndRun(t.Context(), "a", end))
	if got, err := s.LastRun(t.Context()); err != nil || got.ID != "b" || !got.Ended.IsZero() || got.Holder != lease.Self() {
		t.Errorf("%+v, %v", got, err)
	}
	clock.advance(time.Minute)
	must(t, s.EndRun(t.Context(), "b", end))
	if got, err := s.LastRun(t.Context()); err != nil || got.RunEnd != end || !got.Ended.Equal(clock.Now()) {
		t.Errorf("%+v, %v", got, err)
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
