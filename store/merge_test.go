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

// mergeable returns a store with the project and another, which has one session,
// extracted and consolidated, and a note.
func mergeable(t testing.TB) *Store {
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

func merge(t testing.TB, s *Store) {
	t.Helper()
	from, into := hold(t, s, other), hold(t, s, project)
	must(t, s.MergeProjects(t.Context(), from, into))
	must(t, s.GiveBackProject(t.Context(), into))
}

func TestMergingGivesAllToTheOtherProject(t *testing.T) {
	t.Parallel()
	s := mergeable(t)
	if projectRow(t, s, project).Due {
		t.Fatal("due to begin with")
	}
	merge(t, s)
	rows, err := s.Projects(t.Context())
	must(t, err)
	if len(rows) != 1 || rows[0].Sessions != 2 || rows[0].Extractions != 2 || !rows[0].Due || rows[0].Generation != 1 || len(rows[0].Directories) != 2 {
		t.Fatalf("%+v", rows)
	}
	for _, ref := range []string{other, "other", "host/" + other, "/src/" + other + "/x"} {
		if row := projectRow(t, s, ref); row.ID != project {
			t.Errorf("%s leads to %s", ref, row.ID)
		}
	}
	// What the next consolidation of the project finds changed replaces none of them.
	must(t, s.RecordNotes(t.Context(), project, 1, []memoir.Note{{File: "MEMORY.md", Action: memoir.NoteAdded, Text: "later"}}))
	notes, err := s.Notes(t.Context(), project)
	must(t, err)
	var got []string
	for _, n := range notes {
		got = append(got, n.File+": "+n.Text)
	}
	want := []string{"MEMORY.md: by " + other, "page.md: page of " + other, "MEMORY.md: later"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	moves, err := s.FolderMoves(t.Context())
	must(t, err)
	if diff := cmp.Diff([]FolderMove{{other, project}}, moves); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	must(t, s.FolderMoved(t.Context(), moves[0]))
	if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestWhereHandEditsContradictEachOtherThoseOfTheTargetHold(t *testing.T) {
	t.Parallel()
	s := mergeable(t)
	merge(t, s)
	notes, err := s.Notes(t.Context(), project)
	must(t, err)
	for _, n := range notes {
		if n.File == "page.md" && n.Text != "page of "+project {
			t.Errorf("%+v", n)
		}
	}
	if len(notes) != 3 {
		t.Errorf("%+v", notes)
	}
}

func TestWhatWasFoundBeforeAMergeIsSavedAfterIt(t *testing.T) {
	t.Parallel()
	s := mergeable(t)
	merge(t, s)
	scan(t, s, session("late", func(se *memoir.Session) { se.ProjectID = other }), session("theirs", grown, func(se *memoir.Session) { se.ProjectID = other }))
	must(t, s.MoveSession(t.Context(), "codex:ours", other))
	ids, err := s.Register(t.Context(), memoir.Project{ID: other, Name: "other", Identity: "host/" + other, Remote: "host/" + other})
	must(t, err)
	if row := projectRow(t, s, project); row.Sessions != 3 || ids[other] != project {
		t.Errorf("%+v, registered as %s", row, ids[other])
	}
}

func TestAPurgeThatIsBegunOutlastsAMerge(t *testing.T) {
	t.Parallel()
	for _, purged := range []string{project, other} {
		s := mergeable(t)
		for _, id := range []string{project, other} {
			c, err := s.BeginForgetting(t.Context(), hold(t, s, id), Forgetting{Text: "x", Purge: id == purged})
			must(t, err)
			must(t, s.GiveBackProject(t.Context(), c))
		}
		merge(t, s)
		left, err := s.Withdrawals(t.Context())
		must(t, err)
		if len(left) != 1 || left[0].ProjectID != project || !left[0].Purge || left[0].Seq != projectRow(t, s, project).ChangeSeq {
			t.Errorf("purge of %s: %+v", purged, left)
		}
	}
}

func TestMergingNeedsBothClaims(t *testing.T) {
	t.Parallel()
	s := mergeable(t)
	from, into := hold(t, s, other), hold(t, s, project)
	must(t, s.GiveBackProject(t.Context(), from))
	wantCode(t, s.MergeProjects(t.Context(), from, into), memoir.CodeLeaseLost)
	from = hold(t, s, other)
	must(t, s.GiveBackProject(t.Context(), into))
	wantCode(t, s.MergeProjects(t.Context(), from, into), memoir.CodeLeaseLost)
	wantCode(t, s.MergeProjects(t.Context(), from, from), memoir.CodeUsage)
	if rows, err := s.Projects(t.Context()); err != nil || len(rows) != 2 || rows[0].Extractions != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	_, _, err := s.ClaimProject(t.Context(), other, ProjectClaimOptions{Holder: elsewhere(), Lease: time.Minute, Always: true})
	wantCode(t, err, memoir.CodeBusy)
}

func TestAProjectThatWasMergedCanBeMergedOn(t *testing.T) {
	t.Parallel()
	s := mergeable(t)
	merge(t, s)
	const third = "third-0123456789ab"
	register(t, s, third)
	from, into := hold(t, s, project), hold(t, s, third)
	must(t, s.MergeProjects(t.Context(), from, into))
	for _, ref := range []string{other, project, "host/" + other} {
		if row := projectRow(t, s, ref); row.ID != third || row.Extractions != 2 {
			t.Errorf("%s: %+v", ref, row)
		}
	}
	moves, err := s.FolderMoves(t.Context())
	must(t, err)
	if diff := cmp.Diff([]FolderMove{{project, third}, {other, third}}, moves); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	if notes, err := s.Notes(t.Context(), third); err != nil || len(notes) != 3 {
		t.Errorf("%+v, %v", notes, err)
	}
}

func TestForgettingAProjectForgetsItsSessions(t *testing.T) {
	t.Parallel()
	s := mergeable(t)
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
	moves, err := s.FolderMoves(t.Context())
	if must(t, err); !cmp.Equal(moves, []FolderMove{{ProjectID: other}}) {
		t.Errorf("%+v", moves)
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
	s := mergeable(t)
	_, err := s.ForgetProject(t.Context(), other)
	must(t, err)
	must(t, s.SetForgotten(t.Context(), "codex:theirs", false))
	files, err := s.Files(t.Context())
	must(t, err)
	if f := files["/sessions/theirs.jsonl"]; f.ModTime.UnixNano() != 0 || files["/sessions/ours.jsonl"].ModTime.UnixNano() == 0 {
		t.Errorf("%+v", files)
	}
}
