package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/extract"
	"memoir/model"
	"memoir/store"
)

// full is a ledger that nothing can be entered in.
type full struct{ ledger }

func (full) BeginCall(context.Context, store.Call) (int64, error) { return 0, errFull }

var errFull = memoir.Errorf(memoir.CodeStorage, "make room", "the disk is full")

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

// entered is what the ledger has of Phase 1's calls: how many by what became of the work and of them.
func entered(t *testing.T, st *store.Store) (all memoir.Usage, ends map[string]int) {
	t.Helper()
	rows, err := st.UsageRows(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	ends = map[string]int{}
	for _, row := range rows {
		all = all.Add(row.Usage)
		key := row.Outcome + " " + row.Call
		if row.Estimated > 0 {
			key += " estimated"
		}
		ends[key] += row.Usage.Calls
	}
	return all, ends
}

func TestNoCallIsMadeThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	r := prepared(t)
	r.meter.ledger = full{r.store}
	r.extractor = inquiring{r.extractor, r.meter.of(scripted(func(model.Request) (model.Answer, error) {
		t.Error("a call was made")
		return model.Answer{}, nil
	}), model.Options{})}
	if err := r.steps(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("ended with %v", err)
	}
	status, err := r.store.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p := r.report.Phase1; p.Failed > 0 || p.GivenBack == 0 || len(status.Failed)+len(status.Dead)+len(status.Running) > 0 {
		t.Errorf("%+v, %+v", p, status)
	}
	if all, _ := entered(t, r.store); all != (memoir.Usage{}) || r.meter.settled() != all || r.meter.reserved != all {
		t.Errorf("ledger %+v, report %+v, under way %+v", all, r.meter.spent, r.meter.reserved)
	}
}

func TestACallThatHasNoEndStaysByItsEstimate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call func(interrupt func(), deaf <-chan struct{})
		want string // of the work and of its calls
	}{
		"it panicked":              {func(func(), <-chan struct{}) { panic("odd") }, "failed failed estimated"},
		"it is deaf to interrupts": {func(interrupt func(), deaf <-chan struct{}) { interrupt(); <-deaf }, "interrupted begun estimated"},
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
			all, ends := entered(t, r.store)
			if diff := cmp.Diff(map[string]int{test.want: all.Calls}, ends); diff != "" || all.Calls == 0 || all != r.meter.settled() {
				t.Errorf("%s%+v, %+v", diff, all, r.meter.settled())
			}
		})
	}
}

func TestTheNextCallOfAWorkMakesTheLastOneLast(t *testing.T) {
	t.Parallel()
	now := time.Now()
	meter, kept := alone(config.Limits{}, &now), &book{now: &now}
	meter.ledger = kept
	m := meter.of(spending(7), model.Options{})
	for _, work := range []string{"a", "b"} {
		ctx, _ := begin(t.Context(), store.Call{Work: work, Phase: phaseExtract})
		for range 2 {
			if _, err := m.Call(ctx, model.Request{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	for _, c := range kept.begun {
		got = append(got, fmt.Sprint(c.Work, c.Durable))
	}
	if diff := cmp.Diff([]string{"afalse", "atrue", "bfalse", "btrue"}, got); diff != "" {
		t.Error(diff)
	}
}
