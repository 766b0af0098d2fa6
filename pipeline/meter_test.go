package pipeline

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/rollout"
	"memoir/store"
	"memoir/testdata"
)

// scripted is a model that does as it is told.
type scripted func(q model.Request) (model.Answer, error)

func (s scripted) Name() string { return "x/y" }
func (s scripted) Window() int  { return 0 }
func (s scripted) Call(_ context.Context, q model.Request) (model.Answer, error) {
	return s(q)
}

// inquiring asks its model about each session, and does as the built-in one does.
type inquiring struct {
	extract.Extractor
	model model.Model
}

func (i inquiring) Name() string { return i.model.Name() }

func (i inquiring) Extract(ctx context.Context, in extract.Input) (memoir.Extraction, error) {
	if _, err := i.model.Call(ctx, model.Request{Input: in.Session.ID}); err != nil {
		return memoir.Extraction{}, memoir.Errorf(memoir.CodeInvalid, "", "asking: %w", err)
	}
	return i.Extractor.Extract(ctx, in)
}

func TestADayBeginsAtMidnightOfUTC(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 23, 59, 0, 0, time.UTC)
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memoir.db"), store.Options{Now: func() time.Time { return now }})
	must(t, err)
	defer st.Close()
	r, err := newRun(st, Options{Home: t.TempDir(), Settings: config.Settings{Limits: config.Limits{TokensPerDay: 100}}})
	must(t, err)
	m := r.meter.of(scripted(func(model.Request) (model.Answer, error) {
		return model.Answer{Usage: memoir.Usage{Calls: 1, InputTokens: 60}}, nil
	}), model.Options{MaxOutput: 50})
	ask := func() error { _, err := m.Call(t.Context(), model.Request{}); return err }
	must(t, ask())
	now = now.In(time.FixedZone("", 7200)).Add(time.Minute)
	if err := ask(); err != nil {
		t.Errorf("the next day: %v", err)
	}
	now = now.Add(23 * time.Hour)
	err = ask()
	want := "limits.tokensPerDay is 100 tokens: 60 tokens spent today, and the next call takes about 50 tokens"
	if memoir.CodeOf(err) != memoir.CodeLimit || err.Error() != want || memoir.HintOf(err) == "" {
		t.Errorf("%v, want %s", err, want)
	}
	now = now.Add(24 * time.Hour)
	if err := ask(); memoir.CodeOf(err) != memoir.CodeLimit {
		t.Errorf("a run that was stopped goes on: %v", err)
	}
}

// A fault elsewhere may leave a secret in a prompt, or in an answer that is quoted to its model.
func TestNoSecretReachesAModelWhateverMadeThePrompt(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	token, _, _ := testdata.Fake("github-pat")
	var got model.Request
	m := r.meter.of(scripted(func(q model.Request) (model.Answer, error) { got = q; return model.Answer{}, nil }), model.Options{})
	dirty, clean := "it is "+token+" then", "it is [REDACTED:github-pat] then"
	earlier := []model.Exchange{{Answer: dirty, Objection: dirty}}
	_, err := m.Call(forWork(t.Context(), store.Call{}), model.Request{Input: dirty, Earlier: earlier})
	must(t, err)
	want := model.Request{Input: clean, Earlier: []model.Exchange{{Answer: clean, Objection: clean}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the model is asked\n%s", diff)
	}
	if earlier[0].Answer != dirty {
		t.Error("the caller's own request was changed")
	}
}

// Both phases may call one model, each through a meter of its own.
func TestAModelOutOfServiceIsAskedByNeitherPhase(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	inner := scripted(func(model.Request) (model.Answer, error) {
		t.Error("a call was made")
		return model.Answer{}, nil
	})
	one, two := r.meter.of(inner, model.Options{}), r.meter.of(inner, model.Options{})
	r.judge("x/y", &model.Error{Class: model.ClassUnreachable})
	for _, m := range []model.Model{one, two} {
		if _, err := m.Call(t.Context(), model.Request{}); !isRefused(err) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNoCallIsMadeThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	r.opts.Settings.ModelRoles.Phase2 = "x/y" // or the scan would look in it for what was read
	db, err := sql.Open("sqlite3", filepath.Join(r.opts.Home, "memoir.db"))
	if err == nil {
		_, err = db.Exec("DROP TABLE ledger")
	}
	must(t, err)
	defer db.Close()
	r.extractor = inquiring{r.extractor, r.meter.of(scripted(func(model.Request) (model.Answer, error) {
		t.Error("a call was made")
		return model.Answer{}, nil
	}), model.Options{})}
	if err := r.steps(t.Context()); !ownFault(err) {
		t.Errorf("ended with %v", err)
	}
	if p := r.report.Phase1; p.Failed > 0 || p.Released == 0 {
		t.Errorf("%+v", p)
	}
}

func TestACallThatHasNoEndStaysByItsEstimate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call func(interrupt func(), deaf <-chan struct{})
		want string // of the work
	}{
		"it panicked":              {func(func(), <-chan struct{}) { panic("odd") }, "failed"},
		"it is deaf to interrupts": {func(interrupt func(), deaf <-chan struct{}) { interrupt(); <-deaf }, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := prepared(t)
			ctx, interrupt := context.WithCancel(t.Context())
			deaf := make(chan struct{})
			t.Cleanup(func() { close(deaf) })
			r.extractor = inquiring{r.extractor, r.meter.of(scripted(func(model.Request) (model.Answer, error) {
				test.call(interrupt, deaf)
				return model.Answer{}, nil
			}), model.Options{MaxOutput: 50})}
			if err := r.steps(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
			used, err := r.meter.settled(ctx)
			must(t, err)
			rows, err := r.store.UsageRows(t.Context(), time.Time{})
			must(t, err)
			ends, all := map[string]int{}, memoir.Usage{}
			for _, row := range rows {
				ends[row.Outcome] += row.Estimated
				all = all.Add(row.Usage)
			}
			if diff := cmp.Diff(map[string]int{test.want: all.Calls}, ends); diff != "" || all.Calls == 0 || all != used {
				t.Errorf("%s%+v, %+v", diff, all, used)
			}
		})
	}
}

// stubExtractor does as its function says for one session, and what the built-in
// one does for the others.
type stubExtractor struct {
	extract.Extractor
	poison string // id of the session
	do     func()
}

func (s stubExtractor) Extract(ctx context.Context, in extract.Input) (memoir.Extraction, error) {
	if s.poison == "" || in.Session.ID == s.poison {
		s.do()
	}
	return s.Extractor.Extract(ctx, in)
}

type panicky struct{ consolidate.Consolidator }

func (panicky) Consolidate(context.Context, consolidate.Input) (memoir.Consolidation, error) {
	panic("no such page")
}

// prepared is a run over the fixtures that is about to start.
func prepared(t *testing.T) *phases {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	_, err := testdata.Write(dir)
	must(t, err)
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{})
	must(t, err)
	t.Cleanup(func() { st.Close() })
	r, err := newPhases(st, Options{
		Home: home, SessionsDir: dir, Settings: config.Default(), Env: rollout.Env{Home: home}, Now: testdata.Now, Limit: 1000,
	})
	must(t, err)
	return r
}

func TestASessionThatMakesTheExtractorPanicFailsAlone(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	for _, s := range testdata.Expected() {
		if s.Project != "" && s.OpenReason() == memoir.ReasonEligible {
			r.extractor = stubExtractor{r.extractor, s.ID, func() { panic("odd session") }}
			break
		}
	}
	must(t, r.steps(t.Context()))
	if p := r.report.Phase1; p.Failed != 1 || p.Stored < 3 {
		t.Errorf("phase 1: %+v", p)
	}
	status, err := r.store.Status(t.Context())
	must(t, err)
	if len(status.Failed) != 1 || !strings.Contains(status.Failed[0].Error, "odd session") {
		t.Errorf("status says %+v", status.Failed)
	}
}

func TestAProjectThatMakesTheConsolidatorPanicIsReportedAsFailed(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	r.consolidator = panicky{r.consolidator}
	must(t, r.steps(t.Context()))
	if !r.report.Partly() || len(r.report.Phase2) == 0 {
		t.Fatalf("phase 2: %+v", r.report.Phase2)
	}
	for _, p := range r.report.Phase2 {
		if p.Outcome != OutcomeFailed || p.Project == "" || !strings.Contains(p.Detail, "no such page") {
			t.Errorf("%+v", p)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
