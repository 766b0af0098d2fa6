package pipeline_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"memoir/memory"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

// restoredOverEdit is an app whose live generation 3 was restored over generation 2,
// which has a line by hand.
func restoredOverEdit(t *testing.T) app {
	t.Helper()
	a := newApp(t)
	a.edit("MEMORY.md", "- ask zanzibar first")
	if out := a.restore(1); out.Over != 2 || out.Generation != 3 {
		t.Fatalf("%+v", out)
	}
	return a
}

func TestAPurgeOfWhatARestoringTookAwayLeavesAProjectThatRuns(t *testing.T) {
	t.Parallel()
	a := restoredOverEdit(t)
	report := forgotten(t, options(a.home, a.dir), pipeline.Forgetting{Text: "zanzibar", Projects: []string{a.id}, Purge: true})
	if len(report.Projects) != 1 || !slices.Contains(report.Projects[0].Archives, "generations/2.tar.zst") {
		t.Fatalf("%+v", report.Projects)
	}
	if left := holding(t, a.home, "zanzibar"); len(left) != 0 {
		t.Errorf("left in %q", left)
	}
	a.session("aaaaaaaa-0002", "Always write the header of a fixture.")
	if again := a.run(); len(again.Phase2) != 1 || again.Phase2[0].Outcome != pipeline.OutcomePublished || len(again.Warnings) != 0 {
		t.Errorf("%+v, %+v", again.Phase2, again.Warnings)
	}
	a.wantText([]string{"pnpm", "header of a fixture"}, []string{"zanzibar"})
	a.restore(1)
}

func TestWithoutTheArchiveOfWhatWasRestoredOverARunWarns(t *testing.T) {
	t.Parallel()
	a := restoredOverEdit(t)
	if err := os.Remove(a.root().Archive(2)); err != nil {
		t.Fatal(err)
	}
	a.session("aaaaaaaa-0002", "Always write the header of a fixture.")
	report := a.run()
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || len(report.Warnings) != 1 ||
		!strings.Contains(report.Warnings[0].Message, "archive of generation 2 is gone") {
		t.Errorf("%+v, %+v", report.Phase2, report.Warnings)
	}
	a.wantText([]string{"header of a fixture"}, nil)
}

func TestWhatAPersonAskedForOutlastsATakingOut(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]bool{"a limit is reached": false, "its model waits": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 4)
			broken := false
			server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
				if broken {
					return modeltest.Step{Status: http.StatusTooManyRequests, RetryAfter: "7200", Message: "later"}
				}
				return answeredWell(t, c)
			})
			o := ofServer(t, home, dir, "phase2", server.URL)
			id := run(t, o).Phase2[0].Project
			if broken = waits; broken {
				claudeSession(t, dir, "t00", "/srv/open/app", "always write the header of fixture 77")
				if _, err := tryRun(t.Context(), t, o); err != nil {
					t.Fatal(err)
				}
			} else {
				o.Settings.Limits.TokensPerRun = 1
			}
			appendLine(t, filepath.Join(memory.At(home, id).Link(), "MEMORY.md"), "- ask Ada first")
			ask := func(what ...error) {
				t.Helper()
				if err := errorsOf(what...); err != nil {
					t.Fatal(err)
				}
			}
			st := open(t, home)
			ask(st.Enqueue(t.Context(), id), st.SetDisabled(t.Context(), "claude:s01", true))
			st.Close()
			report, _ := tryRun(t.Context(), t, o)
			if one := report.Phase2[0]; one.Generation != 3 || !slices.Equal(one.ByHand, []int{2}) {
				t.Errorf("%+v", one)
			}
			calls := len(server.Calls())
			broken, o.Settings.Limits.TokensPerRun = false, 0
			st = open(t, home)
			_, err := st.Retry(t.Context())
			ask(err)
			st.Close()
			run(t, o)
			if len(server.Calls()) != calls+1 {
				t.Fatalf("%d calls more", len(server.Calls())-calls)
			}
			question, _ := asked(t, server.Calls()[calls])
			if n := len(listedNew.FindAllString(between(question, "changed-sessions"), -1)); n != 3 {
				t.Errorf("the model is shown %d sessions again", n)
			}
		})
	}
}

func TestAServerThatAskedToBeLeftAloneIsThoughTheProjectForgets(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 4)
	broken := false
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		if broken {
			return modeltest.Step{Status: http.StatusTooManyRequests, RetryAfter: "7200", Message: "later"}
		}
		return answeredWell(t, c)
	})
	o := ofServer(t, home, dir, "phase2", server.URL)
	run(t, o)
	claudeSession(t, dir, "t00", "/srv/open/app", "always write the header of fixture 77")
	broken = true
	if _, err := tryRun(t.Context(), t, o); err != nil {
		t.Fatal(err)
	}
	calls := len(server.Calls())
	if out := forgotten(t, o, pipeline.Forgetting{Keys: []string{"claude:s02"}}); out.Projects[0].Outcome != pipeline.OutcomePublished {
		t.Errorf("%+v", out)
	}
	if again := run(t, o); len(server.Calls()) != calls || len(again.Phase2) != 1 || again.Phase2[0].Outcome != pipeline.OutcomeBackoff {
		t.Errorf("%d calls more, %+v", len(server.Calls())-calls, again.Phase2)
	}
	if _, _, status := ledger(t, home); len(status.Failed) != 1 {
		t.Errorf("%+v", status.Failed)
	}
}

func TestTheBuiltinModelTakesOverFromAPart(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 90)
	server := modeltest.OpenAIChat(t, func(n int, c modeltest.Call) modeltest.Step {
		if n > 0 {
			return modeltest.Step{Status: http.StatusServiceUnavailable, Message: "down"}
		}
		return answeredWell(t, c)
	})
	o := ofNarrow(t, home, dir, "phase2", server.URL)
	_, _ = tryRun(t.Context(), t, o)
	st := open(t, home)
	projects, err := st.Projects(t.Context())
	if err != nil || len(projects) != 1 || projects[0].Generation != 1 {
		t.Fatalf("%+v, %v", projects, err)
	}
	if _, err := st.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	st.Close()
	root := memory.At(home, projects[0].ID)
	appendLine(t, filepath.Join(root.Link(), "MEMORY.md"), "- ask Ada first")
	report := run(t, options(home, dir))
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || report.Phase2[0].Inputs != 90 || !slices.Equal(report.Phase2[0].ByHand, []int{2}) {
		t.Fatalf("%+v, %+v", report.Phase2, report.Warnings)
	}
	text := memoryOf(t, report, projects[0].Name, "MEMORY.md")
	if !strings.Contains(text, "- ask Ada first") || strings.Contains(text, "needs its own care") {
		t.Error(text)
	}
	live, err := root.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range live.Manifest.Inputs {
		if in.Hash == "" {
			t.Errorf("%s is open still", in.Session)
		}
	}
	if again := run(t, options(home, dir)); len(again.Phase2) != 0 {
		t.Errorf("%+v", again.Phase2)
	}
}

func TestAnEditDuringAConsolidationCostsNothingThatWasPaidFor(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 4)
	edit := func() {}
	calls := 0
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		if calls++; calls > 2 {
			edit()
			return modeltest.Step{Status: http.StatusServiceUnavailable, Message: "down"}
		}
		return answeredWell(t, c)
	})
	o := ofNarrow(t, home, dir, "phase2", server.URL)
	id := run(t, o).Phase2[0].Project
	root := memory.At(home, id)
	for n := range 90 {
		claudeSession(t, dir, fmt.Sprintf("t%02d", n), "/srv/open/app", fmt.Sprintf("always write the header of fixture %d", 100+n))
	}
	var once sync.Once
	edit = func() {
		once.Do(func() { appendLine(t, filepath.Join(root.Link(), "MEMORY.md"), "- ask Ada first") })
	}
	report, _ := tryRun(t.Context(), t, o)
	live, err := root.Current()
	if err != nil {
		t.Fatal(err)
	}
	text := string(live.Files["MEMORY.md"])
	if live.Generation != 3 || !strings.Contains(text, "- ask Ada first") || strings.Count(text, "needs its own care") <= 4 {
		t.Errorf("generation %d, %+v:\n%s", live.Generation, report.Phase2, text)
	}
}
