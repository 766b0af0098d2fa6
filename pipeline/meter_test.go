package pipeline

import (
	"context"
	"testing"
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
	now   *time.Time
	begun []store.Call
	rows  []bookRow
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
	var all memoir.Usage
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
