package store

import (
	"slices"
	"testing"
)

// skippedNow returns what is stored, without the times.
func skippedNow(t *testing.T, s *Store) []SkippedRow {
	t.Helper()
	rows, err := s.SkippedRecords(t.Context())
	must(t, err)
	for i := range rows {
		if rows[i].At.IsZero() {
			t.Errorf("no time: %+v", rows[i])
		}
		rows[i].At = noon
	}
	return rows
}

func TestSkippedRecordsAreThoseOfEachSessionsLastExtraction(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	r := worth("a")
	r.Skipped = []Skipped{{SkippedUnknown, "hologram", 3}, {SkippedUnknown, "hologram", 1}, {SkippedUnknown, "aura", 9}, {SkippedCut, "", 1}}
	first := extracted(t, s, r)
	r = worth("b")
	r.Skipped = []Skipped{{SkippedUnknown, "hologram", 8}}
	second := extracted(t, s, r)
	newest := first
	if second.Session.UpdatedAt.After(first.Session.UpdatedAt) {
		newest = second
	}
	want := []SkippedRow{
		{Skipped{SkippedCut, "", 1}, "codex", 1, first.Session.Key(), noon},
		{Skipped{SkippedUnknown, "hologram", 12}, "codex", 2, newest.Session.Key(), noon},
		{Skipped{SkippedUnknown, "aura", 9}, "codex", 1, first.Session.Key(), noon},
	}
	if got := skippedNow(t, s); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}

	// Its next reading is what counts, also one that finds nothing new in it.
	scan(t, s, session(first.Session.ID, grown))
	c := claimOne(t, s)
	must(t, s.MarkUnchanged(t.Context(), c, c.DoneHash, []Skipped{{SkippedUnknown, "aura", 1}}))
	want = []SkippedRow{
		{Skipped{SkippedUnknown, "hologram", 8}, "codex", 1, second.Session.Key(), noon},
		{Skipped{SkippedUnknown, "aura", 1}, "codex", 1, first.Session.Key(), noon},
	}
	if got := skippedNow(t, s); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	must(t, s.Clear(t.Context(), project))
	if got := skippedNow(t, s); len(got) != 0 {
		t.Errorf("cleared, and %+v is left", got)
	}
}
