package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/store"
)

// scripted is a model that does as it is told.
type scripted func(q model.Request) (model.Answer, error)

func (s scripted) Name() string { return "x/y" }
func (s scripted) Window() int  { return 0 }
func (s scripted) Call(_ context.Context, q model.Request) (model.Answer, error) {
	return s(q)
}

// book is a ledger in memory.
type book struct {
	now    *time.Time
	before memoir.Usage // what another run spent today
	begun  []store.Call
	rows   []bookRow
}

type bookRow struct {
	at   time.Time
	used memoir.Usage
}

func (b *book) BeginCall(_ context.Context, c store.Call) (int64, error) {
	b.begun = append(b.begun, c)
	b.rows = append(b.rows, bookRow{*b.now, c.Expected})
	return int64(len(b.rows) - 1), nil
}

func (b *book) EndCall(_ context.Context, id int64, e store.CallEnd) error {
	b.rows[id].used = e.Usage
	return nil
}

func (b *book) Spent(_ context.Context, since time.Time) (memoir.Usage, error) {
	all := b.before
	for _, row := range b.rows {
		if !row.at.Before(since) {
			all = all.Add(row.used)
		}
	}
	return all, nil
}

// alone is a meter of the only run, whose clock is at a pointer.
func alone(limits config.Limits, now *time.Time) *meter {
	m := newMeter(limits, &book{now: now}, "", nil)
	m.now = func() time.Time { return *now }
	return m
}

func spending(tokens int64) scripted {
	return func(model.Request) (model.Answer, error) {
		return model.Answer{Usage: memoir.Usage{Calls: 1, InputTokens: tokens}}, nil
	}
}

func TestADayBeginsAtMidnightOfUTC(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 23, 59, 0, 0, time.UTC)
	meter := alone(config.Limits{TokensPerDay: 100}, &now)
	m := meter.of(spending(60), model.Options{MaxOutput: 50})
	ask := func() error { _, err := m.Call(t.Context(), model.Request{}); return err }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	now = now.In(time.FixedZone("", 7200)).Add(time.Minute)
	if err := ask(); err != nil {
		t.Errorf("the next day: %v", err)
	}
	now = now.Add(23 * time.Hour)
	err := ask()
	want := "limits.tokensPerDay is 100 tokens: 60 tokens spent today, and the next call takes about 50 tokens"
	if memoir.CodeOf(err) != memoir.CodeLimit || err.Error() != want || memoir.HintOf(err) == "" {
		t.Errorf("%v, want %s", err, want)
	}
	now = now.Add(24 * time.Hour)
	if err := ask(); memoir.CodeOf(err) != memoir.CodeLimit {
		t.Errorf("a run that was stopped goes on: %v", err)
	}
}

func TestALimitIsFoundBelowOtherErrors(t *testing.T) {
	t.Parallel()
	stop := (&Stopped{Limit: "limits.tokensPerRun", Reason: "enough"}).err()
	for err, want := range map[error]bool{
		stop: true,
		fmt.Errorf("extract: %w", memoir.Errorf(memoir.CodeInvalid, "", "ask again: %w", stop)): true,
		memoir.Errorf(memoir.CodeInvalid, "", "no"):                                             false,
		errors.New("limit"): false,
	} {
		if limited(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

func TestEveryCallIsCountedWhateverBecomesOfIt(t *testing.T) {
	t.Parallel()
	used := memoir.Usage{Calls: 1, InputTokens: 8, OutputTokens: 2, Cost: 0.5}
	for name, test := range map[string]struct {
		call scripted
		want memoir.Usage
		paid bool
	}{
		"answered": {func(model.Request) (model.Answer, error) { return model.Answer{Usage: used}, nil }, used, true},
		"failed, and cost": {func(model.Request) (model.Answer, error) {
			return model.Answer{}, fmt.Errorf("call: %w", &model.Error{Class: model.ClassTemporary, Usage: used})
		}, used, true},
		"turned away": {func(model.Request) (model.Answer, error) {
			return model.Answer{}, &model.Error{Class: model.ClassLimited}
		}, memoir.Usage{Calls: 1}, false},
		"nobody there": {func(model.Request) (model.Answer, error) {
			return model.Answer{}, &model.Error{Class: model.ClassUnreachable}
		}, memoir.Usage{}, false},
		"timed out": {func(model.Request) (model.Answer, error) {
			return model.Answer{}, &model.Error{Class: model.ClassTemporary, Untold: true, TimedOut: time.Second}
		}, memoir.Usage{Calls: 1, InputTokens: 3}, true},
		"a program, failed": {func(model.Request) (model.Answer, error) {
			return model.Answer{}, &model.Error{Class: model.ClassProgram, Status: 1, Usage: memoir.Usage{Calls: 1}}
		}, memoir.Usage{Calls: 1}, false},
		"panicked": {func(model.Request) (model.Answer, error) { panic("oh") },
			memoir.Usage{Calls: 1, InputTokens: 3, OutputTokens: extractOutput}, true},
	} {
		now := time.Now()
		meter := alone(config.Limits{}, &now)
		ctx, account := begin(t.Context(), store.Call{Phase: phaseExtract})
		func() {
			defer func() { _ = recover() }()
			_, _ = meter.of(test.call, model.Options{}).Call(ctx, model.Request{System: "12345", Input: "678",
				Earlier: []model.Exchange{{Answer: "9", Objection: "0"}}})
		}()
		if meter.settled() != test.want || meter.reserved != (memoir.Usage{}) || account.paid() != test.paid {
			t.Errorf("%s: the run spent %+v, %+v is under way, paid %v", name, meter.spent, meter.reserved, account.paid())
		}
	}
}

func TestAModelThatIsTooSlowIsToldApartFromOneThatDoesNotServe(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for timedOut, want := range map[time.Duration]string{0: waitHint, time.Second: slowHint} {
		meter := alone(config.Limits{}, &now)
		m := meter.of(spending(1), model.Options{})
		meter.service(m.Name()).end(fmt.Errorf("x/y does not serve: %w", &model.Error{TimedOut: timedOut}))
		if _, err := m.Call(t.Context(), model.Request{}); !errors.Is(err, errUnserved) || memoir.HintOf(err) != want {
			t.Errorf("timed out after %s: %v, hint %q", timedOut, err, memoir.HintOf(err))
		}
	}
}

func TestACallThatWaitedForRoomIsNotMadeToAModelThatServesNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		meter := alone(config.Limits{TokensPerRun: 150}, &now)
		made, proceed := 0, make(chan struct{})
		m := meter.of(scripted(func(model.Request) (model.Answer, error) {
			made++
			<-proceed
			return model.Answer{Usage: memoir.Usage{Calls: 1}}, nil
		}), model.Options{MaxOutput: 100}).(*metered)
		ask := func(ctx context.Context, out chan<- error) { _, err := m.Call(ctx, model.Request{}); out <- err }
		first, second := make(chan error, 1), make(chan error, 1)
		go ask(t.Context(), first)
		synctest.Wait()
		ctx, account := begin(t.Context(), store.Call{Phase: phaseExtract})
		go ask(ctx, second)
		synctest.Wait()
		meter.service(m.Name()).end(errors.New("down"))
		close(proceed)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; !errors.Is(err, errUnserved) || account.refusal() == nil || made != 1 {
			t.Errorf("%v, %d calls", err, made)
		}
		if meter.reserved != (memoir.Usage{}) {
			t.Errorf("%+v is under way", meter.reserved)
		}
	})
}

func TestALimitOfADayCountsWhatOtherRunsSpend(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, test := range []struct {
		run  config.Limits
		made int
	}{
		{run: config.Limits{TokensPerDay: 100}},
		{run: config.Limits{TokensPerDay: 200}, made: 1},
		{run: config.Limits{TokensPerRun: 100}, made: 1},
	} {
		meter := alone(test.run, &now)
		ledger := &book{now: &now, before: memoir.Usage{Calls: 1, InputTokens: 60}}
		meter.ledger = ledger
		made := 0
		m := meter.of(scripted(func(model.Request) (model.Answer, error) {
			made++
			return model.Answer{}, &model.Error{Class: model.ClassUnreachable}
		}), model.Options{MaxOutput: 50})
		ctx, account := begin(t.Context(), store.Call{Phase: phaseExtract, ProjectID: "p"})
		_, err := m.Call(ctx, model.Request{})
		if made != test.made || limited(err) != (made == 0) || limited(account.refusal()) != limited(err) ||
			(meter.stop() != nil) != limited(err) {
			t.Errorf("%+v: %d made, %v", test, made, err)
		}
		if meter.reserved != (memoir.Usage{}) || ledger.rows[0].used.Calls != 0 {
			t.Errorf("%+v: left behind %+v, %+v", test, meter.reserved, ledger.rows)
		}
	}
}
