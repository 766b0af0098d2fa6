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
	enter := func(at time.Time, project, model string, input int64) {
		clock.now = at
		usage := memoir.Usage{Calls: 1, InputTokens: input, CachedTokens: 1, OutputTokens: 2, Cost: 0.5}
		enterCall(t, s, Call{Run: "r", Phase: kindExtract, ProjectID: project, Model: model},
			CallEnd{Usage: usage, Duration: time.Second, Call: CallAnswered}, OutcomeFailed)
	}
	late := time.Date(2026, 9, 1, 23, 59, 59, 0, time.FixedZone("", 0))
	enter(late, "b", "m", 1)
	enter(late.Add(time.Second), "b", "m", 2)
	enter(late.Add(-time.Hour), "b", "m", 4)
	enter(late, "a", "m", 8)
	enter(late, "a", "n", 16)
	row := func(day, project, model string, calls int, input int64) UsageRow {
		return UsageRow{Day: day, ProjectID: project, Model: model, Phase: kindExtract, Outcome: OutcomeFailed, Call: CallAnswered, Duration: time.Duration(calls) * time.Second,
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
