package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/lease"
)

// expected is what the calls of these tests are estimated to take, took what they did.
var (
	expected = memoir.Usage{Calls: 1, InputTokens: 1000, OutputTokens: 100, Cost: 2}
	took     = memoir.Usage{Calls: 1, InputTokens: 40, CachedTokens: 8, OutputTokens: 4, Cost: 0.25}
)

// beginCall begins a call of Phase 1 for the work of a claim.
func beginCall(t testing.TB, s *Store, work string) int64 {
	t.Helper()
	id, err := s.BeginCall(t.Context(), Call{Work: work, Run: "r", Phase: kindExtract, SessionKey: "codex:s00", ProjectID: project, Model: "x/y", Expected: expected}, nil)
	must(t, err)
	return id
}

// enterCall enters a call that has ended, of work of its own that came to something.
func enterCall(t testing.TB, s *Store, c Call, e CallEnd, outcome string) {
	t.Helper()
	c.Work = lease.NewToken()
	id, err := s.BeginCall(t.Context(), c, nil)
	must(t, err)
	must(t, s.EndCall(t.Context(), id, e))
	must(t, s.EndWork(t.Context(), c.Work, c.ProjectID, outcome))
}

// calls tells what the ledger has, call by call that differs.
func calls(t testing.TB, s *Store) map[string]memoir.Usage {
	t.Helper()
	rows, err := s.UsageRows(t.Context(), time.Time{})
	must(t, err)
	sums := map[string]memoir.Usage{}
	for _, r := range rows {
		key := r.Phase + " " + r.Outcome
		if r.Estimated > 0 {
			key += " estimated"
		}
		sums[key] = sums[key].Add(r.Usage)
	}
	return sums
}

func TestWorkThatIsDoneOnceIsRetriedOnlyByItsOwnRun(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	for _, step := range []struct {
		run  string
		code memoir.Code
	}{{"a", ""}, {"a", ""}, {"b", memoir.CodeChanged}} {
		_, err := s.BeginCall(t.Context(), Call{Work: "w", Run: step.run, Once: true, Phase: "journal", Model: "x/y"}, nil)
		if memoir.CodeOf(err) != step.code || (err == nil) != (step.code == "") {
			t.Errorf("run %s: %v", step.run, err)
		}
	}
}

func TestACallCountsByItsEstimateUntilItEnds(t *testing.T) {
	t.Parallel()
	s, clock := newStore(t)
	id := beginCall(t, s, "w")
	if diff := cmp.Diff(map[string]memoir.Usage{"extract unfinished estimated": expected}, calls(t, s)); diff != "" {
		t.Error(diff)
	}
	if u, today, err := s.Spent(t.Context(), "r"); err != nil || u != expected || today != expected {
		t.Errorf("%+v, %v", u, err)
	}

	clock.advance(24 * time.Hour) // it counts for the day on which it began
	must(t, s.EndCall(t.Context(), id, CallEnd{Usage: took, Duration: time.Second}))
	rows, err := s.UsageRows(t.Context(), time.Time{})
	must(t, err)
	want := []UsageRow{{Day: "2026-09-01", Project: project, Model: "x/y", Phase: kindExtract, Outcome: OutcomeUnfinished, Usage: took, DurationMS: 1000}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}

	// One that reached nobody is none.
	before := calls(t, s)
	must(t, s.EndCall(t.Context(), beginCall(t, s, "w"), CallEnd{}))
	if diff := cmp.Diff(before, calls(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatBecomesOfWorkIsToldOfEachOfItsCalls(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end     func(t *testing.T, s *Store, begin func(work string))
		outcome string
	}{
		"stored": {func(t *testing.T, s *Store, begin func(string)) {
			c := claimOne(t, s)
			begin(c.Token)
			must(t, s.StoreExtraction(t.Context(), c, worth("a")))
		}, "stored"},
		"lost": {func(t *testing.T, s *Store, begin func(string)) {
			c := claimOne(t, s)
			begin(c.Token)
			must(t, s.Clear(t.Context(), project))
			wantCode(t, s.StoreExtraction(t.Context(), c, worth("a")), memoir.CodeLeaseLost)
			must(t, s.EndWork(t.Context(), c.Token, "", OutcomeLost))
		}, OutcomeLost},
		"published": {func(t *testing.T, s *Store, begin func(string)) {
			c := hold(t, s, project)
			begin(c.Token)
			publish(t, s, c, GenerationRecord{N: 1})
		}, "published"},
		"not consolidated": {func(t *testing.T, s *Store, begin func(string)) {
			c := hold(t, s, project)
			begin(c.Token)
			fail(t, s, c, transient, Policy{})
		}, OutcomeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newQueue(t, 1)
			beginCall(t, s, "of another") // whose process may have died
			beginCall(t, s, "")           // of no work
			var late int64
			test.end(t, s, func(work string) {
				must(t, s.EndCall(t.Context(), beginCall(t, s, work), CallEnd{Usage: took}))
				late = beginCall(t, s, work)
			})
			want := map[string]memoir.Usage{
				"extract unfinished estimated":           expected.Add(expected),
				"extract " + test.outcome + " estimated": took.Add(expected),
			}
			if diff := cmp.Diff(want, calls(t, s)); diff != "" {
				t.Error(diff)
			}
			// A call may end after its work.
			must(t, s.EndCall(t.Context(), late, CallEnd{Usage: took}))
			delete(want, "extract "+test.outcome+" estimated")
			want["extract "+test.outcome] = took.Add(took)
			if diff := cmp.Diff(want, calls(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheLedgerIsAddedUpByDayProjectModelPhaseAndOutcome(t *testing.T) {
	t.Parallel()
	s, clock := newStore(t)
	enter := func(at time.Time, project, model string, input int64) {
		clock.now = at
		usage := memoir.Usage{Calls: 1, InputTokens: input, CachedTokens: 1, OutputTokens: 2, Cost: 0.5}
		enterCall(t, s, Call{Run: "r", Phase: kindExtract, ProjectID: project, Model: model},
			CallEnd{Usage: usage, Duration: time.Second}, OutcomeFailed)
	}
	late := time.Date(2026, 9, 1, 23, 59, 59, 0, time.FixedZone("", 0))
	enter(late, "b", "m", 1)
	enter(late.Add(time.Second), "b", "m", 2)
	enter(late.Add(-time.Hour), "b", "m", 4)
	enter(late, "a", "m", 8)
	enter(late, "a", "n", 16)
	row := func(day, project, model string, calls int, input int64) UsageRow {
		return UsageRow{Day: day, Project: project, Model: model, Phase: kindExtract, Outcome: OutcomeFailed, DurationMS: int64(calls) * 1000,
			Usage: memoir.Usage{Calls: calls, InputTokens: input, CachedTokens: int64(calls), OutputTokens: 2 * int64(calls), Cost: float64(calls) / 2}}
	}
	want := []UsageRow{row("2026-09-01", "a", "m", 1, 8), row("2026-09-01", "a", "n", 1, 16), row("2026-09-01", "b", "m", 2, 5), row("2026-09-02", "b", "m", 1, 2)}
	for since, want := range map[time.Time][]UsageRow{{}: want, late.Add(time.Second): want[3:], clock.Now().Add(48 * time.Hour): {}} {
		rows, err := s.UsageRows(t.Context(), since)
		must(t, err)
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("since %v: %s", since, diff)
		}
	}
}
