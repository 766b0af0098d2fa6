package store

import (
	"slices"
	"testing"
	"time"

	"memoir"
)

func TestADraftIsKeptForTheConsolidatorThatLeftIt(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	draft := func(model string) string {
		data, err := s.Draft(t.Context(), project, model)
		must(t, err)
		return string(data)
	}
	c := claimProject(t, s)
	if got := draft("builtin"); got != "" {
		t.Errorf("before any was kept: %q", got)
	}
	must(t, s.KeepDraft(t.Context(), c, "builtin", []byte("one")))
	must(t, s.KeepDraft(t.Context(), c, "builtin", []byte("two")))
	if got := draft("builtin"); got != "two" {
		t.Errorf("got %q", got)
	}
	if got := draft("a/model"); got != "" {
		t.Errorf("another consolidator got %q", got)
	}
	must(t, s.GiveBackProject(t.Context(), c))
	wantCode(t, s.KeepDraft(t.Context(), c, "builtin", []byte("late")), memoir.CodeLeaseLost)
	if got := draft("builtin"); got != "two" {
		t.Errorf("who lost the claim left %q", got)
	}
}

func TestTheNewestSessionsAreSelectedAndTheOthersNamed(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 4)
	for _, ago := range []time.Duration{3, 1, 4, 1} {
		r := worth("x")
		r.Extraction.EndedAt = noon.Add(-ago * time.Hour)
		extracted(t, s, r)
	}
	byEnd := inputs(t, s) // by their keys
	slices.SortStableFunc(byEnd, func(a, b memoir.Extraction) int { return b.EndedAt.Compare(a.EndedAt) })
	for most := 1; most <= 5; most++ {
		selected, others, err := s.Selected(t.Context(), project, most)
		must(t, err)
		var want []string
		for _, e := range byEnd[:min(most, 4)] {
			want = append(want, e.SessionKey)
		}
		var got []string
		for _, e := range selected {
			got = append(got, e.SessionKey)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) || len(got)+len(others) != 4 || !slices.IsSorted(others) {
			t.Errorf("of %d: %v and %v, want %v", most, got, others, want)
		}
	}
	// One that went on is the newest from then on.
	oldest := byEnd[3].SessionKey
	_, id := memoir.SplitKey(oldest)
	scan(t, s, session(id, grown))
	r := worth("went on")
	r.Extraction.EndedAt = noon
	extracted(t, s, r)
	if selected, _, err := s.Selected(t.Context(), project, 1); err != nil || len(selected) != 1 || selected[0].SessionKey != oldest {
		t.Errorf("after %s went on: %+v, %v", oldest, selected, err)
	}
}
