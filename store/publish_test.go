package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoir"
)

func TestPublishingRecordsTheGenerationAndSwapsLast(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	c := claimProject(t, s)
	swapped := false
	g := GenerationRecord{
		N: 1, ManifestHash: "m", Inputs: map[string]string{"codex:s00": "hash of a"}, At: noon.Add(time.Second),
		Redactions: map[string]int{"aws": 1},
	}
	must(t, s.Publish(t.Context(), c, g, func() error {
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
	wantCode(t, s.Publish(t.Context(), c, GenerationRecord{N: 2}, func() error { return nil }), memoir.CodeLeaseLost)

	clock.advance(time.Hour)
	extracted(t, s, worth("b"))
	publish(t, s, claimProject(t, s), GenerationRecord{N: 2, At: clock.Now()})
	list, err := s.Generations(t.Context(), project)
	must(t, err)
	if len(list) != 2 || list[0].N != 2 || list[0].Fence != 2 || list[0].Seq != 2 || list[1].N != 1 || list[1].ManifestHash != "m" || list[1].Inputs["codex:s00"] != "hash of a" {
		t.Errorf("generations %+v", list)
	}
	if last, err = s.LastInputs(t.Context(), project); err != nil || len(last) != 0 {
		t.Errorf("the live generation has inputs %v, %v", last, err)
	}
}

func TestASwapThatFailsRecordsNothing(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	c := claimProject(t, s)
	full := errors.New("no space left on device")
	err := s.Publish(t.Context(), c, GenerationRecord{N: 1}, func() error { return full })
	if !errors.Is(err, full) {
		t.Fatalf("error %v", err)
	}
	changed := memoir.Errorf(memoir.CodeChanged, "", "live files were edited")
	err = s.Publish(t.Context(), c, GenerationRecord{N: 1}, func() error { return changed })
	wantCode(t, err, memoir.CodeChanged)
	list, err := s.Generations(t.Context(), project)
	if must(t, err); len(list) != 0 || projectRow(t, s, project).Generation != 0 {
		t.Fatalf("generations %+v", list)
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
	err := s.Publish(t.Context(), c, GenerationRecord{N: 4}, func() error { t.Error("swapped"); return nil })
	wantCode(t, err, memoir.CodeChanged)
}

func TestALinkThatIsAheadOfTheDatabaseIsRecordedAfterwards(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	link := filepath.Join(filepath.Dir(s.Path()), "memory")
	c := claimProject(t, s)
	// The process dies between the swap and the commit.
	func() {
		defer func() { recover() }()
		s.Publish(t.Context(), c, GenerationRecord{N: 1}, func() error {
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
	list, err := s.Generations(t.Context(), project)
	if must(t, err); len(list) != 1 || list[0].Fence != c.Fence {
		t.Fatalf("generations %+v", list)
	}
	// An older one than the live one changes nothing but the list.
	must(t, s.RecordGeneration(t.Context(), project, GenerationRecord{N: 3, At: noon, Seq: 99}))
	must(t, s.RecordGeneration(t.Context(), project, GenerationRecord{N: 2, At: noon}))
	if row := projectRow(t, s, project); row.Generation != 3 || row.ConsumedSeq != row.ChangeSeq {
		t.Fatalf("project %+v", row)
	}
	wantCode(t, s.RecordGeneration(t.Context(), "none", g), memoir.CodeNotFound)
}
