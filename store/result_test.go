package store

import (
	"reflect"
	"testing"
	"time"

	"memoir"
)

// extracted claims the latest session and stores what it is worth.
func extracted(t testing.TB, s *Store, r Result) Claim {
	t.Helper()
	c := claimOne(t, s)
	must(t, s.StoreExtraction(t.Context(), c, r))
	return c
}

// inputs are what a consolidation of the project above takes.
func inputs(t testing.TB, s *Store) []memoir.Extraction {
	t.Helper()
	return inputsOf(t, s, project)
}

func inputsOf(t testing.TB, s *Store, projectID string) []memoir.Extraction {
	t.Helper()
	e, _, err := s.Selected(t.Context(), projectID, -1)
	must(t, err)
	return e
}

func TestAnExtractionIsStoredWholeAndMakesItsProjectDue(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	r := Result{
		Extraction: memoir.Extraction{
			SessionKey: "ignored", ProjectID: "ignored", Statements: findings("a"), RolloutSummary: "b", RolloutSlug: "c", Title: "d",
			CWD: "/e", Branch: "f", StartedAt: noon.Add(-time.Hour), EndedAt: noon, ContentHash: "g", FilterVersion: 3, Model: "h/i", Seq: 77,
		},
		Redactions: map[string]int{"aws": 2, "jwt": 1, "none": 0},
	}
	extracted(t, s, r)
	want := r.Extraction
	want.SessionKey, want.ProjectID, want.Seq = "codex:s00", project, 1
	want.Identify()
	if got := inputs(t, s); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("extractions %+v, want %+v", got, want)
	}
	if row := projectRow(t, s, project); !row.Due || row.ChangeSeq != 1 || row.ConsumedSeq != 0 || row.Extractions != 1 || row.Sessions != 1 {
		t.Errorf("project %+v", row)
	}
	st, err := s.Status(t.Context())
	must(t, err)
	if len(st.Redactions) != 2 || st.Redactions["aws"] != 2 || st.Redactions["jwt"] != 1 || st.Jobs["done"] != 1 {
		t.Errorf("status %+v", st)
	}
}

func TestWhatAnExtractionLeavesStored(t *testing.T) {
	t.Parallel()
	nothing := Result{Extraction: memoir.Extraction{ContentHash: "h2", FilterVersion: 1}}
	withdrawn := nothing
	withdrawn.Withdraw = true
	renamed := worth("a")
	renamed.Extraction.Title = "another"
	sameText := worth("a")
	sameText.Extraction.ContentHash, sameText.Extraction.Model = "h2", "other/model"
	tests := []struct {
		name          string
		first, second *Result
		memory        string // that is stored; empty: none
		changes       int64  // the project's change sequence
	}{
		{"an empty answer stores nothing and changes nothing", nil, &nothing, "", 0},
		{"withdrawing what was never there changes nothing", nil, &withdrawn, "", 0},
		{"a new memory is a change", nil, ptr(worth("a")), "a", 1},
		{"another memory is another change", ptr(worth("a")), ptr(worth("b")), "b", 2},
		{"the same memory is no change", ptr(worth("a")), &sameText, "a", 1},
		{"another title is a change", ptr(worth("a")), &renamed, "a", 2},
		{"an empty answer keeps the earlier memory", ptr(worth("a")), &nothing, "a", 1},
		{"what was undone is withdrawn", ptr(worth("a")), &withdrawn, "", 2},
	}
	for _, tt := range tests {
		s, _ := newQueue(t, 1)
		if tt.first != nil {
			extracted(t, s, *tt.first)
			scan(t, s, session("s00", grown))
		}
		extracted(t, s, *tt.second)
		memory := ""
		for _, e := range inputs(t, s) {
			memory += rawOf(e)
		}
		row := projectRow(t, s, project)
		if memory != tt.memory || row.ChangeSeq != tt.changes {
			t.Errorf("%s: memory %q and change %d, want %q and %d", tt.name, memory, row.ChangeSeq, tt.memory, tt.changes)
		}
		// Whatever it gave, this version is done.
		if got := reasonOf(t, s, "s00"); got != memoir.ReasonUpToDate {
			t.Errorf("%s: the session is %s", tt.name, got)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestALateFinisherStoresNothing(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 1)
	late := claimOne(t, s)
	clock.advance(time.Hour)
	winner := claimSuspects(t, s)[0]
	r := worth("late")
	r.Redactions = map[string]int{"aws": 1}
	check := func() {
		t.Helper()
		wantCode(t, s.StoreExtraction(t.Context(), late, r), memoir.CodeLeaseLost)
		wantCode(t, s.MarkUnchanged(t.Context(), late, "h", Result{}), memoir.CodeLeaseLost)
		wantCode(t, failed(s, late, Failure{Message: "late"}, Policy{}), memoir.CodeLeaseLost)
		giveBack(t, s, late)
	}
	check()
	if st, err := s.Status(t.Context()); err != nil || st.Usage.Calls != 0 || len(st.Redactions) != 0 || len(st.Running) != 1 {
		t.Fatalf("status %+v, %v", st, err)
	}
	must(t, s.StoreExtraction(t.Context(), winner, worth("won")))
	check()
	if got := inputs(t, s); len(got) != 1 || rawOf(got[0]) != "won" {
		t.Fatalf("stored %+v", got)
	}
	// A claim is finished once.
	wantCode(t, s.StoreExtraction(t.Context(), winner, worth("again")), memoir.CodeLeaseLost)
}

func TestASessionThatGrowsWhileItIsExtractedIsNotDone(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	c := claimOne(t, s)
	scan(t, s, session("s00", grown))
	must(t, s.StoreExtraction(t.Context(), c, worth("a")))
	again := claimOne(t, s)
	if again.InputVersion == c.InputVersion || again.DoneHash != "hash of a" {
		t.Fatalf("claim %+v", again)
	}
}
