package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"memoir"
)

// wantGenerations compares what is recorded of generations: number, fence, change sequence, hash and inputs.
func wantGenerations(t *testing.T, s *Store, want ...string) {
	t.Helper()
	must(t, s.read(t.Context(), func(tx tx) {
		got := tx.texts(`SELECT concat_ws(' ', n, fence, seq, manifest_hash, (SELECT json_group_object(session_key, hash)
			FROM generation_input i WHERE i.n = g.n AND i.project_id = g.project_id)) FROM generation g ORDER BY n`)
		if !slices.Equal(got, want) {
			t.Errorf("generations %q, want %q", got, want)
		}
	}))
}

func TestPublishingRecordsTheGenerationAndSwapsLast(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	c := claimProject(t, s)
	swapped := false
	g := GenerationRecord{
		N: 1, ManifestHash: "m", Inputs: map[string]string{"codex:s00": "hash of a"}, At: noon.Add(time.Second),
		Redactions: map[string]int{"aws": 1},
	}
	must(t, s.Publish(t.Context(), c, PublishLast, g, func() error {
		swapped = true
		// A reader sees the earlier state until the commit.
		if row := projectRow(t, s, project); row.Generation != 0 {
			t.Errorf("recorded before it was swapped: %+v", row)
		}
		return nil
	}))
	row := projectRow(t, s, project)
	if !swapped || row.Generation != 1 || !row.PublishedAt.Equal(noon.Add(time.Second)) || row.Due || row.ConsumedSeq != 1 {
		t.Errorf("project %+v", row)
	}
	last, err := s.LastInputs(t.Context(), project)
	if must(t, err); !maps.Equal(last, g.Inputs) {
		t.Errorf("last inputs %v", last)
	}
	st, err := s.Status(t.Context())
	if must(t, err); st.Redactions["aws"] != 1 || len(st.Running) != 0 {
		t.Errorf("status %+v", st)
	}
	// The claim ends with it.
	wantCode(t, s.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 2}, func() error { return nil }), memoir.CodeLeaseLost)

	clock.advance(time.Hour)
	extracted(t, s, worth("b"))
	publish(t, s, claimProject(t, s), GenerationRecord{N: 2, At: clock.Now()})
	wantGenerations(t, s, `1 1 1 m {"codex:s00":"hash of a"}`, `2 2 2  {}`)
	if last, err = s.LastInputs(t.Context(), project); err != nil || len(last) != 0 {
		t.Errorf("the live generation has inputs %v, %v", last, err)
	}
}

func TestASwapThatFailsRecordsNothing(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	c := claimProject(t, s)
	full := errors.New("no space left on device")
	err := s.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 1}, func() error { return full })
	if !errors.Is(err, full) {
		t.Fatalf("error %v", err)
	}
	changed := memoir.Errorf(memoir.CodeChanged, "", "live files were edited")
	err = s.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 1}, func() error { return changed })
	wantCode(t, err, memoir.CodeChanged)
	if wantGenerations(t, s); projectRow(t, s, project).Generation != 0 {
		t.Fatal("it counts as published")
	}
	// The claim is still ours, and the work can be done again.
	publish(t, s, c, GenerationRecord{N: 1})
}

func TestAGenerationIsPublishedOnce(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	publish(t, s, claimProject(t, s), GenerationRecord{N: 4})
	extracted(t, s, worth("b"))
	c := claimProject(t, s)
	if c.Generation != 4 {
		t.Fatalf("claim %+v", c)
	}
	err := s.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 4}, func() error { t.Error("swapped"); return nil })
	wantCode(t, err, memoir.CodeChanged)
}

// The fence holds where the token alone would let a former holder in.
func TestAnOlderFencePublishesNothingThoughTheTokenIsOurs(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	c := claimProject(t, s)
	must(t, s.quickly(t.Context(), func(t tx) { t.exec(`UPDATE project SET fence = fence + 1`) }))
	swap := func() error { t.Error("swapped"); return nil }
	wantCode(t, s.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 1}, swap), memoir.CodeLeaseLost)
	wantCode(t, s.Publish(t.Context(), c, PublishPart, GenerationRecord{N: 1}, swap), memoir.CodeLeaseLost)
	wantGenerations(t, s)
}

func TestALinkThatIsAheadOfTheDatabaseIsRecordedAfterwards(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	link := filepath.Join(filepath.Dir(s.Path()), "memory")
	c := claimProject(t, s)
	// The process dies between the swap and the commit.
	func() {
		defer func() { recover() }()
		s.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 1}, func() error {
			must(t, os.Symlink("live/1", link))
			panic("killed")
		})
	}()
	g := GenerationRecord{N: 1, ManifestHash: "m", Inputs: map[string]string{"codex:s00": "hash of a"}, At: noon, Seq: c.Seq, Fence: c.Fence}
	for range 2 {
		must(t, s.RecordGeneration(t.Context(), project, g))
	}
	if row := projectRow(t, s, project); row.Generation != 1 || row.Due || row.ConsumedSeq != 1 {
		t.Fatalf("project %+v", row)
	}
	wantGenerations(t, s, `1 1 1 m {"codex:s00":"hash of a"}`)
	// An older one than the live one changes nothing but the list.
	must(t, s.RecordGeneration(t.Context(), project, GenerationRecord{N: 3, At: noon, Seq: 99}))
	must(t, s.RecordGeneration(t.Context(), project, GenerationRecord{N: 2, At: noon}))
	if row := projectRow(t, s, project); row.Generation != 3 || row.ConsumedSeq != row.ChangeSeq {
		t.Fatalf("project %+v", row)
	}
	wantCode(t, s.RecordGeneration(t.Context(), "none", g), memoir.CodeNotFound)
}

func TestTheLastWordOfAPersonCounts(t *testing.T) {
	t.Parallel()
	line := func(action memoir.EditAction, section, text string) memoir.HandEdit {
		return memoir.HandEdit{ProjectID: project, File: "MEMORY.md", Action: action, Section: section, Text: text}
	}
	file := func(action memoir.EditAction, text string) memoir.HandEdit {
		return memoir.HandEdit{ProjectID: project, File: "skills/a/SKILL.md", Action: action, Text: text}
	}
	left := func(n int, edit memoir.HandEdit) memoir.HandEdit {
		edit.Others = n
		return edit
	}
	var again []memoir.HandEdit // the next are on the generation before
	const added, removed, whole, deleted = memoir.EditAdded, memoir.EditRemoved, memoir.EditFile, memoir.EditDeleted
	tests := []struct {
		name  string
		calls [][]memoir.HandEdit
		want  []string
	}{
		{"nothing", [][]memoir.HandEdit{{}}, []string{}},
		{"an attempt that did not publish leaves no notes behind", [][]memoir.HandEdit{{line(removed, "A", "old")},
			{line(added, "A", "half"), line(added, "A", "old")}, again, {line(added, "A", "whole")}}, []string{"removed A old", "added A whole"}},
		{"a line may be added again", [][]memoir.HandEdit{{line(added, "A", "x")}, {line(added, "A", "x")}}, []string{"added A x", "added A x"}},
		{"one of two is removed, if possible in its section", [][]memoir.HandEdit{{line(added, "A", "x"), line(added, "B", "x")}, {left(1, line(removed, "A", "x"))}},
			[]string{"was added A x", "added B x", "removed A x"}},
		{"one is removed that the model wrote", [][]memoir.HandEdit{{line(added, "A", "x")}, {left(1, line(removed, "A", "x"))}}, []string{"added A x", "removed A x"}},
		{"the order of making is kept", [][]memoir.HandEdit{{line(added, "A", "y"), line(added, "A", "x")}}, []string{"added A y", "added A x"}},
		{"a removal takes the place of an addition", [][]memoir.HandEdit{{line(added, "A", "x")}, {line(removed, "A", "x")}}, []string{"was added A x", "removed A x"}},
		{"an addition takes the place of a removal, in whatever section", [][]memoir.HandEdit{{line(removed, "A", "x")}, {line(added, "B", "x")}}, []string{"was removed A x", "added B x"}},
		{"another line is another matter", [][]memoir.HandEdit{{line(added, "A", "x")}, {line(removed, "A", "y")}}, []string{"added A x", "removed A y"}},
		{"a line that was moved is removed and added", [][]memoir.HandEdit{{line(removed, "A", "x"), line(added, "B", "x")}}, []string{"was removed A x", "added B x"}},
		{"and moved back", [][]memoir.HandEdit{{line(removed, "A", "x"), line(added, "B", "x")}, {line(removed, "B", "x"), line(added, "A", "x")}}, []string{"was removed A x", "was added B x", "was removed B x", "added A x"}},
		{"of a file the last content", [][]memoir.HandEdit{{file(whole, "1")}, {file(whole, "2")}}, []string{"file  2"}},
		{"a deleted file", [][]memoir.HandEdit{{file(whole, "1")}, {file(deleted, "")}}, []string{"deleted  "}},
		{"a file that is back", [][]memoir.HandEdit{{file(deleted, "")}, {file(whole, "1")}}, []string{"file  1"}},
		{"a file's lines are not the file", [][]memoir.HandEdit{{line(added, "A", "x")}, {file(whole, "x")}}, []string{"added A x", "file  x"}},
	}
	for _, tt := range tests {
		s, _ := newStore(t)
		register(t, s, project)
		generation := int64(0)
		for _, notes := range tt.calls {
			if notes == nil {
				generation--
				continue
			}
			generation++
			must(t, s.RecordHandEdits(t.Context(), project, generation, notes))
		}
		notes, err := s.HandEdits(t.Context(), project)
		must(t, err)
		got := []string{}
		for _, n := range notes {
			got = append(got, string(n.Action)+" "+n.Section+" "+n.Text)
			if n.ID == 0 || !n.At.Equal(noon) || n.ProjectID != project {
				t.Errorf("%s: note %+v", tt.name, n)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
