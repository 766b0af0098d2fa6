package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/lease"
)

const other = "other-0123456789ab"

func hold(t testing.TB, s *Store, id string) ProjectClaim {
	t.Helper()
	c, ok, err := s.ClaimProject(t.Context(), id, ProjectClaimOptions{Holder: lease.Self(), Lease: time.Minute, Always: true})
	if must(t, err); !ok {
		t.Fatalf("%s was not claimed: %+v", id, c)
	}
	return c
}

// twoProjects returns a store with the project and another, which has one session,
// extracted and consolidated, and a note.
func twoProjects(t testing.TB) *Store {
	t.Helper()
	s, _ := newStore(t)
	register(t, s, project, other)
	scan(t, s, session("ours"), session("theirs", func(se *memoir.Session) { se.ProjectID, se.CWD = other, "/src/"+other }))
	for range 2 {
		c := claimOne(t, s)
		must(t, s.StoreExtraction(t.Context(), c, worth(c.Session.ID)))
	}
	for _, id := range []string{project, other} {
		c := hold(t, s, id)
		must(t, s.Publish(t.Context(), c, GenerationRecord{N: 1, Inputs: map[string]string{"codex:x": "h"}, At: noon}, func() error { return nil }))
		must(t, s.RecordNotes(t.Context(), id, 1, []memoir.Note{
			{File: "MEMORY.md", Action: memoir.NoteAdded, Text: "by " + id}, {File: "page.md", Action: memoir.NoteFile, Text: "page of " + id},
		}))
	}
	return s
}

func TestForgettingAProjectForgetsItsSessions(t *testing.T) {
	t.Parallel()
	s := twoProjects(t)
	scan(t, s, session("theirs", grown, func(se *memoir.Session) { se.ProjectID = other }))
	late := claimOne(t, s)
	n, err := s.ForgetProject(t.Context(), other)
	must(t, err)
	if n != 1 || reasonOf(t, s, "theirs") != memoir.ReasonForgotten {
		t.Errorf("%d forgotten, %s", n, reasonOf(t, s, "theirs"))
	}
	wantCode(t, s.StoreExtraction(t.Context(), late, worth("late")), memoir.CodeLeaseLost)
	if rows, err := s.Projects(t.Context()); err != nil || len(rows) != 1 || rows[0].ID != project || rows[0].Extractions != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	removed, err := s.RemovedProjects(t.Context())
	if must(t, err); !cmp.Equal(removed, []string{other}) {
		t.Errorf("%+v", removed)
	}
	// A later session begins anew; one that was forgotten comes back as one.
	register(t, s, other)
	scan(t, s, session("new", func(se *memoir.Session) { se.ProjectID = other }), session("theirs", grown, grown, func(se *memoir.Session) { se.ProjectID = other }))
	if row := projectRow(t, s, other); row.Generation != 0 || row.Extractions != 0 || reasonOf(t, s, "theirs") != memoir.ReasonForgotten || reasonOf(t, s, "new") != memoir.ReasonEligible {
		t.Errorf("%+v", row)
	}
	if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestASessionThatIsRememberedAgainIsScannedAgain(t *testing.T) {
	t.Parallel()
	s := twoProjects(t)
	_, err := s.ForgetProject(t.Context(), other)
	must(t, err)
	must(t, s.SetForgotten(t.Context(), "codex:theirs", false))
	files, err := s.Files(t.Context())
	must(t, err)
	if f := files["/sessions/theirs.jsonl"]; f.ModTime.UnixNano() != 0 || files["/sessions/ours.jsonl"].ModTime.UnixNano() == 0 {
		t.Errorf("%+v", files)
	}
}
