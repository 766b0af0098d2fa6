package store

import (
	"slices"
	"testing"

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
	if tombstones, err := s.Tombstones(t.Context()); err != nil || len(tombstones) != 1 || tombstones[0].ProjectID != project {
		t.Errorf("%+v, %v", tombstones, err)
	}
	if purging, err := s.Purging(t.Context()); err != nil || !purging {
		t.Errorf("purging %v, %v", purging, err)
	}
}

func TestASessionThatIsRememberedAgainBeforeForgettingIsFinishedStartsFromScratch(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	const key = "codex:s00"
	c := claimProject(t, s)
	must(t, s.Publish(t.Context(), c, GenerationRecord{N: 1, Inputs: map[string]string{key: "h"}, At: noon}, func() error { return nil }))
	c, err := s.BeginForgetting(t.Context(), hold(t, s, project), Forgetting{Keys: []string{key}})
	must(t, err)
	must(t, s.GiveBackProject(t.Context(), c))
	must(t, s.SetForgotten(t.Context(), key, false))
	if prior, marks, err := s.Prior(t.Context(), key); err != nil || prior != nil || len(marks) != 0 {
		t.Errorf("%+v, %v, %v", prior, marks, err)
	}
	if row := projectRow(t, s, project); !row.Due {
		t.Errorf("%+v", row)
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
	must(t, s.SetForgotten(t.Context(), "codex:else", false)) // never forgotten: nothing happens
	_, err := s.BeginForgetting(t.Context(), claimAlways(t, s), Forgetting{Keys: []string{"codex:top"}})
	must(t, err)
	tombstones, err := s.Tombstones(t.Context())
	must(t, err)
	var keys []string
	for _, stone := range tombstones {
		keys = append(keys, stone.Key)
	}
	if !slices.Equal(keys, []string{"codex:below", "codex:deeper", "codex:top"}) {
		t.Errorf("forgotten: %v", keys)
	}
}

func claimAlways(t *testing.T, s *Store) ProjectClaim {
	t.Helper()
	o := forMinutes
	o.Always = true
	c, ok, err := s.ClaimProject(t.Context(), project, o)
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	return c
}
