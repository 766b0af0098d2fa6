package pipeline

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/extract"
	"memoir/model"
	"memoir/secrets"
	"memoir/store"
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

func (i inquiring) Extract(ctx context.Context, in extract.Input) (memoir.Extraction, memoir.Usage, error) {
	if _, err := i.model.Call(ctx, model.Request{Input: in.Session.ID}); err != nil {
		return memoir.Extraction{}, memoir.Usage{}, memoir.Errorf(memoir.CodeInvalid, "", "asking: %w", err)
	}
	e, _, err := i.Extractor.Extract(ctx, in)
	return e, memoir.Usage{}, err
}

func TestADayBeginsAtMidnightOfUTC(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 23, 59, 0, 0, time.UTC)
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memoir.db"), store.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	meter := newMeter(&run{store: st, scanner: scanner, opts: Options{Settings: config.Settings{Limits: config.Limits{TokensPerDay: 100}}}})
	m := meter.of(scripted(func(model.Request) (model.Answer, error) {
		return model.Answer{Usage: memoir.Usage{Calls: 1, InputTokens: 60}}, nil
	}), model.Options{MaxOutput: 50})
	ask := func() error { _, err := m.Call(t.Context(), model.Request{}); return err }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
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
		if _, err := m.Call(t.Context(), model.Request{}); !refused(err) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNoCallIsMadeThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	db, err := sql.Open("sqlite3", filepath.Join(r.opts.Home, "memoir.db"))
	if err == nil {
		_, err = db.Exec("DROP TABLE ledger")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r.extractor = inquiring{r.extractor, r.meter.of(scripted(func(model.Request) (model.Answer, error) {
		t.Error("a call was made")
		return model.Answer{}, nil
	}), model.Options{})}
	if err := r.steps(t.Context()); !ownFault(err) {
		t.Errorf("ended with %v", err)
	}
	if p := r.report.Phase1; p.Failed > 0 || p.GivenBack == 0 {
		t.Errorf("%+v", p)
	}
}

func TestACallThatHasNoEndStaysByItsEstimate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call func(interrupt func(), deaf <-chan struct{})
		want string // of the work and of its calls
	}{
		"it panicked":              {func(func(), <-chan struct{}) { panic("odd") }, "failed failed"},
		"it is deaf to interrupts": {func(interrupt func(), deaf <-chan struct{}) { interrupt(); <-deaf }, "interrupted begun"},
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
			if err != nil {
				t.Fatal(err)
			}
			rows, err := r.store.UsageRows(t.Context(), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			ends, all := map[string]int{}, memoir.Usage{}
			for _, row := range rows {
				ends[row.Outcome+" "+row.Call] += row.Estimated
				all = all.Add(row.Usage)
			}
			if diff := cmp.Diff(map[string]int{test.want: all.Calls}, ends); diff != "" || all.Calls == 0 || all != used {
				t.Errorf("%s%+v, %+v", diff, all, used)
			}
		})
	}
}
