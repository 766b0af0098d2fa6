package pipeline

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/rollout"
	"memoir/store"
	"memoir/testdata"
)

// stubExtractor does as its function says for one session, and what the built-in
// one does for the others.
type stubExtractor struct {
	extract.Extractor
	poison string // id of the session
	do     func()
}

func (s stubExtractor) Extract(ctx context.Context, in extract.Input) (memoir.Extraction, memoir.Usage, error) {
	if s.poison == "" || in.Session.ID == s.poison {
		s.do()
	}
	return s.Extractor.Extract(ctx, in)
}

type panicky struct{ consolidate.Consolidator }

func (panicky) Consolidate(context.Context, consolidate.Input) (memoir.Consolidation, memoir.Usage, error) {
	panic("no such page")
}

// prepared is a run over the fixtures that is about to start.
func prepared(t *testing.T) *run {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	if _, err := testdata.Write(dir); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	r, err := newRun(st, Options{
		Home: home, SessionsDir: dir, Settings: config.Default(), Env: rollout.Env{Home: home}, Now: testdata.Now, Limit: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASessionThatMakesTheExtractorPanicFailsAlone(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	for _, s := range testdata.Expected {
		if s.Project != "" && s.OpenReason() == memoir.ReasonEligible {
			r.extractor = stubExtractor{r.extractor, s.ID, func() { panic("odd session") }}
			break
		}
	}
	if err := r.steps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := r.report.Phase1; p.Failed != 1 || p.Stored < 3 {
		t.Errorf("phase 1: %+v", p)
	}
	status, err := r.store.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Failed) != 1 || !strings.Contains(status.Failed[0].Error, "odd session") {
		t.Errorf("status says %+v", status.Failed)
	}
}

func TestAProjectThatMakesTheConsolidatorPanicIsReportedAsFailed(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	r.consolidator = panicky{r.consolidator}
	if err := r.steps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !r.report.Partly() || len(r.report.Phase2) == 0 {
		t.Fatalf("phase 2: %+v", r.report.Phase2)
	}
	for _, p := range r.report.Phase2 {
		if p.Outcome != OutcomeFailed || p.Project == "" || !strings.Contains(p.Detail, "no such page") {
			t.Errorf("%+v", p)
		}
	}
}
