package store

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
)

func TestForgettingIsBegunAndFinished(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t) // s00 is extracted
	const key = "codex:s00"
	must(t, s.RecordNotes(t.Context(), project, 1, []memoir.Note{
		{File: "MEMORY.md", Action: memoir.NoteAdded, Text: "- theirs"}, {File: "MEMORY.md", Action: memoir.NoteAdded, Text: "- of it"},
	}))
	c, err := s.BeginForgetting(t.Context(), claimProject(t, s), Forgetting{Keys: []string{key}, Text: "of it", Purge: true})
	must(t, err)
	if row := projectRow(t, s, project); row.ChangeSeq != c.Seq || !row.Due || len(inputs(t, s)) != 0 {
		t.Errorf("begun: %+v, claim %+v", row, c)
	}
	left, err := s.Withdrawals(t.Context())
	must(t, err)
	if len(left) != 1 || left[0].ProjectID != project || !slices.Equal(left[0].Texts, []string{"of it"}) || !left[0].Purge || left[0].Seq != c.Seq {
		t.Errorf("left %+v", left)
	}
	if known, err := s.WithdrawnExtractions(t.Context(), project); err != nil || len(known) != 1 || known[0].SessionKey != key {
		t.Errorf("what was extracted: %+v, %v", known, err)
	}
	found, err := s.FindSessions(t.Context(), key)
	must(t, err)
	if se := found[0]; se.Title+se.CWD+se.Branch+se.ProjectID != "" || se.Reason != memoir.ReasonForgotten {
		t.Errorf("its row says %+v", se)
	}
	must(t, s.FinishForgetting(t.Context(), project, c.Seq-1, func(n memoir.Note) (memoir.Note, bool) { return n, true }))
	if left, err := s.Withdrawals(t.Context()); err != nil || len(left) != 1 {
		t.Errorf("what was begun later is taken for finished: %+v, %v", left, err)
	}
	must(t, s.FinishForgetting(t.Context(), project, c.Seq, func(n memoir.Note) (memoir.Note, bool) { return n, n.Text != "- of it" }))
	if left, err := s.Withdrawals(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left %+v, %v", left, err)
	}
	if notes, err := s.Notes(t.Context(), project); err != nil || len(notes) != 1 || notes[0].Text != "- theirs" {
		t.Errorf("notes %+v, %v", notes, err)
	}
	if known, err := s.WithdrawnExtractions(t.Context(), project); err != nil || len(known) != 0 {
		t.Errorf("what was extracted is kept: %+v, %v", known, err)
	}
	if tombstones, err := s.ForgottenOf(t.Context(), project); err != nil || len(tombstones) != 1 {
		t.Errorf("%+v, %v", tombstones, err)
	}
	if purging, err := s.Purging(t.Context()); err != nil || !purging {
		t.Errorf("purging %v, %v", purging, err)
	}
}

func TestSubagentsAreForgottenWithTheirSession(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	child := func(parent string) func(*memoir.Session) {
		return func(se *memoir.Session) { se.Kind, se.ParentID = memoir.KindSubagent, parent }
	}
	fork := func(se *memoir.Session) { se.ParentID = "top" }
	scan(t, s, session("top"), session("below", child("top")), session("deeper", child("below")), session("fork", fork), session("else", child("other")))
	must(t, s.Unforget(t.Context(), "codex:else")) // never forgotten: nothing happens
	_, err := s.BeginForgetting(t.Context(), hold(t, s, project), Forgetting{Keys: []string{"codex:top"}})
	must(t, err)
	forgotten, err := s.Forgotten(t.Context())
	must(t, err)
	if keys := slices.Sorted(maps.Keys(forgotten)); !slices.Equal(keys, []string{"codex:below", "codex:deeper", "codex:top"}) {
		t.Errorf("forgotten: %v", keys)
	}
}

func TestAWaitingProjectThatForgetsSaysStillThatItFailed(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Fail(t.Context(), claimProject(t, s), Failure{Message: "line 3, “ask Ada”, cites nobody", Transient: true}, Policy{Base: time.Hour}))
	c, err := s.BeginForgetting(t.Context(), hold(t, s, project), Forgetting{Keys: []string{"codex:s00"}})
	must(t, err)
	must(t, s.GiveBackProject(t.Context(), c))
	if c := wantDeclined(t, s, DeclinedBackoff); c.LastError == "" || strings.Contains(c.LastError, "Ada") {
		t.Errorf("its last error is %q", c.LastError)
	}
}

func TestForgettingAProjectForgetsItsSessions(t *testing.T) {
	t.Parallel()
	s, _ := newFull(t)
	scan(t, s, session("x", grown, theirs))
	late := claimOne(t, s)
	if n, err := s.ForgetProject(t.Context(), other); err != nil || n != 1 || reasonOf(t, s, "x") != memoir.ReasonForgotten {
		t.Errorf("%d forgotten, %s, %v", n, reasonOf(t, s, "x"), err)
	}
	wantCode(t, s.StoreExtraction(t.Context(), late, worth("late")), memoir.CodeLeaseLost)
	if rows, err := s.Projects(t.Context()); err != nil || len(rows) != 1 || rows[0].ID != project || rows[0].Extractions != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	if removed, err := s.RemovedProjects(t.Context()); err != nil || !slices.Equal(removed, []string{other}) {
		t.Errorf("%v, %v", removed, err)
	}
	// A later session begins anew; one that was forgotten comes back as one.
	register(t, s, other)
	scan(t, s, session("new", theirs), session("x", grown, grown, theirs))
	if row := projectRow(t, s, other); row.Generation != 0 || row.Extractions != 0 || reasonOf(t, s, "x") != memoir.ReasonForgotten || reasonOf(t, s, "new") != memoir.ReasonEligible {
		t.Errorf("%+v", row)
	}
	if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	// Remembered again, it is scanned again.
	must(t, s.Unforget(t.Context(), "codex:x"))
	files, err := s.Files(t.Context())
	if must(t, err); files["/sessions/x.jsonl"].ModTime.UnixNano() != 0 || files["/sessions/s00.jsonl"].ModTime.UnixNano() == 0 {
		t.Errorf("%+v", files)
	}
}
