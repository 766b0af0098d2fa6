package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

func TestTheLedgerIsAddedUpByDayProjectModelPhaseAndOutcome(t *testing.T) {
	t.Parallel()
	s, clock := newStore(t)
	entry := func(at time.Time, project, model string, input int64) LedgerEntry {
		return LedgerEntry{At: at, Run: "r", Phase: kindExtract, ProjectID: project, Model: model, Outcome: OutcomeFailed,
			Usage: memoir.Usage{Calls: 1, InputTokens: input, CachedTokens: 1, OutputTokens: 2, Cost: 0.5}, Duration: time.Second}
	}
	late := time.Date(2026, 9, 1, 23, 59, 59, 0, time.FixedZone("", 0))
	must(t, s.AddLedger(t.Context(), entry(late, "b", "m", 1), entry(late.Add(time.Second), "b", "m", 2), entry(late.Add(-time.Hour), "b", "m", 4),
		entry(late, "a", "m", 8), entry(late, "a", "n", 16)))
	row := func(day, project, model string, calls int, input int64) UsageRow {
		return UsageRow{Day: day, ProjectID: project, Model: model, Phase: kindExtract, Outcome: OutcomeFailed, Duration: time.Duration(calls) * time.Second,
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

func TestWorkSaysHowManyBytesItAskedWith(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 3)
	usage := memoir.Usage{Calls: 2, InputTokens: 30, OutputTokens: 4, Cost: 0.25}
	r := worth("a")
	r.Model, r.Usage, r.InputBytes = "x/y", usage, 100
	must(t, s.StoreExtraction(t.Context(), claimOne(t, s), r))
	failure := Failure{Message: "no", Model: "x/y", Usage: usage, InputBytes: 50, Outcome: OutcomeRefused, Transient: true}
	must(t, s.FailClaim(t.Context(), claimOne(t, s), failure, Policy{}))
	failure.InputBytes = 0 // what it told of tokens says nothing then
	must(t, s.FailClaim(t.Context(), claimOne(t, s), failure, Policy{}))
	got, err := s.Experience(t.Context(), "x/y", kindExtract)
	if want := (Experience{Calls: 4, InputBytes: 150, InputTokens: 60, OutputTokens: 8, Cost: 0.5}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	c, ok, err := s.ClaimProject(t.Context(), project, ProjectClaimOptions{Holder: claimOptions(1).Holder, Lease: time.Minute})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(t, s.FailProject(t.Context(), c, failure, Policy{}))
	if got, err := s.Experience(t.Context(), "x/y", kindConsolidate); err != nil || got != (Experience{}) {
		t.Errorf("nothing is known of the other phase: %+v, %v", got, err)
	}
	rows, err := s.UsageRows(t.Context(), time.Time{})
	must(t, err)
	outcomes := map[string]int{}
	for _, row := range rows {
		outcomes[row.Phase+" "+row.Outcome] += row.Usage.Calls
	}
	if diff := cmp.Diff(map[string]int{"extract stored": 2, "extract refused": 4, "consolidate refused": 2}, outcomes); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyTheLatestWorkIsLearnedFrom(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	var entries []LedgerEntry
	for i := range lookback + 50 {
		tokens := int64(1)
		if i < 50 {
			tokens = 1000
		}
		entries = append(entries, LedgerEntry{Phase: kindExtract, Model: "m", InputBytes: 4, Usage: memoir.Usage{Calls: 1, InputTokens: tokens}})
	}
	must(t, s.AddLedger(t.Context(), entries...))
	if e, err := s.Experience(t.Context(), "m", kindExtract); err != nil || e.Calls != lookback || e.InputTokens != lookback {
		t.Errorf("%+v, %v", e, err)
	}
}
