package pipeline_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"memoir/memory"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

// A person asked for all to be consolidated again, of which a part was published before
// the model's server went down; and then restored what was before.
func TestRestoringEndsARebuildOfWhichAPartWasPublished(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 90)
	broken, calls := false, 0
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		if calls++; broken && calls > 1 {
			return modeltest.Step{Status: http.StatusServiceUnavailable, Message: "down"}
		}
		return answeredWell(t, c)
	})
	o := ofNarrow(t, home, dir, "phase2", server.URL)
	id := run(t, o).Phase2[0].Project
	claudeSession(t, dir, "t00", "/srv/open/app", "always write the header of fixture 777")
	run(t, o)

	st := open(t, home)
	if err := st.Enqueue(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	st.Close()
	broken, calls = true, 0
	if report, _ := tryRun(t.Context(), t, o); len(report.Phase2) > 0 && report.Phase2[0].Outcome == pipeline.OutcomePublished {
		t.Fatalf("%+v", report.Phase2)
	}
	live, err := memory.At(home, id).Current()
	if err != nil {
		t.Fatal(err)
	}
	if live.Generation != 3 || !slices.ContainsFunc(live.Manifest.Inputs, func(in memory.Input) bool { return in.Session == "claude:t00" && in.Hash == "" }) {
		t.Fatalf("no part was published that leaves the last session open: generation %d", live.Generation)
	}

	st = open(t, home)
	project, err := st.FindProject(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pipeline.Restore(t.Context(), st, o, project.Project, 1)
	if err != nil || !slices.Equal(out.SetAside, []string{"claude:t00"}) {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, err := st.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	st.Close()
	before := liveText(t, home, id)
	broken, calls = false, 0
	run(t, o)
	if after := liveText(t, home, id); calls != 0 || strings.Contains(after, "the part t00") {
		t.Errorf("after %d calls what was restored is another memory:\n%s", calls, memory.Diff(memory.Files{"all": []byte(before)}, memory.Files{"all": []byte(after)}))
	}
}

// What a restoring took away was noted by a run that then failed; before the next, the
// archive is gone by which that was told.
func TestWhatARestoringDecidedIsKeptWhenItsArchiveIsLost(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 2)
	broken := false
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		if broken {
			return modeltest.Step{Text: "useless"}
		}
		return answeredWell(t, c)
	})
	o := ofServer(t, home, dir, "phase2", server.URL)
	a := app{t: t, dir: dir, home: home, id: run(t, o).Phase2[0].Project}
	a.edit("MEMORY.md", "- ask zanzibar first")
	claudeSession(t, dir, "t00", "/srv/open/app", "always write the header of fixture 777")
	run(t, o)
	a.wantText([]string{"zanzibar"}, nil)
	out := a.restore(1)

	claudeSession(t, dir, "t01", "/srv/open/app", "always write the header of fixture 778")
	broken = true
	if _, err := tryRun(t.Context(), t, o); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(a.root().Archive(out.Over)); err != nil {
		t.Fatal(err)
	}
	broken = false
	a.do(func(st *store.Store) error { _, err := st.Retry(t.Context()); return err })
	a.edit("MEMORY.md", "- ask Ada")
	if report := run(t, o); report.Phase2[0].Outcome != pipeline.OutcomePublished || len(report.Warnings) != 1 {
		t.Fatalf("%+v, %+v", report.Phase2, report.Warnings)
	}
	a.wantText([]string{"ask Ada", "the part t01"}, []string{"zanzibar", "the part t00"})
}
