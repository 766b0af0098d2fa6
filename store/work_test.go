package store

import (
	"testing"

	"memoir"
)

var there = Work{CWD: "/src/there/x", Project: memoir.Project{ID: "there-0123456789ab", Name: "there", Identity: "/src/there", Directories: []string{"/src/there"}}}

func workCWD(t testing.TB, s *Store, key string) (project, work string) {
	t.Helper()
	found, err := s.Sessions(t.Context(), Filter{Keys: []string{key}})
	must(t, err)
	return found[0].ProjectID, found[0].WorkCWD
}

func TestAnExtractionIsStoredWhereTheWorkWas(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	extracted(t, s, worth("a"))
	scan(t, s, session("s00", grown))
	c := claimOne(t, s)
	r := worth("b")
	r.Work = &there
	must(t, s.StoreExtraction(t.Context(), c, r))
	if from, to := projectRow(t, s, project), projectRow(t, s, there.Project.ID); from.Extractions != 0 || !from.Due || to.Extractions != 1 || !to.Due || to.Sessions != 1 {
		t.Fatalf("from %+v, to %+v", from, to)
	}
	// A scan leaves it there, also when it grew, until an extraction says otherwise.
	scan(t, s, session("s00", grown, grown))
	if id, work := workCWD(t, s, "codex:s00"); id != there.Project.ID || work != there.CWD {
		t.Fatalf("after a scan it is in %s because of %q", id, work)
	}
	places, err := s.WorkPlaces(t.Context())
	if must(t, err); places["codex:s00"] != (Place{CWD: "/src/" + project, WorkCWD: there.CWD, ProjectID: there.Project.ID}) {
		t.Errorf("%+v", places)
	}
	c = claimOne(t, s)
	r = worth("c")
	r.Work = &Work{Project: memoir.Project{ID: project, Name: "memoir", Identity: "host/" + project}}
	must(t, s.StoreExtraction(t.Context(), c, r))
	if id, work := workCWD(t, s, "codex:s00"); id != project || work != "" {
		t.Errorf("back again it is in %s because of %q", id, work)
	}
}

func TestASessionThatBeginsElsewhereNowIsFoundByThat(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	c := claimOne(t, s)
	r := worth("a")
	r.Work = &there
	must(t, s.StoreExtraction(t.Context(), c, r))
	scan(t, s, session("s00", grown, func(se *memoir.Session) { se.CWD = "/src/new" }))
	if id, work := workCWD(t, s, "codex:s00"); id != project || work != "" {
		t.Errorf("it is in %s because of %q", id, work)
	}
}

func TestWorkInAnExcludedDirectoryKeepsASessionOut(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	c := claimOne(t, s)
	must(t, s.ExcludeClaim(t.Context(), c, "/secret/x"))
	wantCode(t, s.ExcludeClaim(t.Context(), c, "/secret/x"), memoir.CodeLeaseLost)
	if reasonOf(t, s, "s00") != memoir.ReasonDisabled || projectRow(t, s, project).Due {
		t.Errorf("%s", reasonOf(t, s, "s00"))
	}
	must(t, s.SetExcluded(t.Context(), []string{"/secret/x"}))
	if reasonOf(t, s, "s00") != memoir.ReasonDisabled || reasonOf(t, s, "s01") != memoir.ReasonEligible {
		t.Errorf("%s, %s", reasonOf(t, s, "s00"), reasonOf(t, s, "s01"))
	}
	must(t, s.SetExcluded(t.Context(), nil))
	if again := claimOne(t, s); again.Session.ID != "s00" || again.Attempt != 1 {
		t.Errorf("claimed %s, attempt %d", again.Session.ID, again.Attempt)
	}
}
