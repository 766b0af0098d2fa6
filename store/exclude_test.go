package store

import (
	"testing"

	"memoir"
)

func TestSessionsOfExcludedDirectoriesAreDisabledUntilTheyAreNotExcluded(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	must(t, s.StoreExtraction(t.Context(), claimOne(t, s), worth("x")))
	seq := projectRow(t, s, project).ChangeSeq

	must(t, s.SetExcluded(t.Context(), []string{"/src/" + project}))
	for _, id := range []string{"s00", "s01"} {
		if got := reasonOf(t, s, id); got != memoir.ReasonDisabled {
			t.Errorf("%s is %s, want disabled", id, got)
		}
	}
	row := projectRow(t, s, project)
	if row.Extractions != 0 || row.ChangeSeq == seq {
		t.Errorf("an excluded session is still an input: %+v", row)
	}

	must(t, s.SetExcluded(t.Context(), []string{"/elsewhere"}))
	if got := reasonOf(t, s, "s00"); got != memoir.ReasonUpToDate {
		t.Errorf("s00 is %s again, want up_to_date", got)
	}
	if got := reasonOf(t, s, "s01"); got != memoir.ReasonEligible {
		t.Errorf("s01 is %s again, want eligible", got)
	}
	if row := projectRow(t, s, project); row.Extractions != 1 {
		t.Errorf("%d inputs after the exclusion ended", row.Extractions)
	}
}

func TestAPersonsOwnMarkOutlivesAnExclusion(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	must(t, s.SetDisabled(t.Context(), "codex:s00", true))
	must(t, s.SetExcluded(t.Context(), []string{"/src/" + project}))
	must(t, s.SetExcluded(t.Context(), nil))
	if got := reasonOf(t, s, "s00"); got != memoir.ReasonDisabled {
		t.Errorf("s00 is %s, want disabled", got)
	}
}
