package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

// asking is a phase that asks its model once and, whatever the model says but
// "useless", does as the built-in one does.
type asking struct {
	model     model.Model
	maxOutput int
	extractor extract.Extractor
	memory    consolidate.Consolidator
}

func (a asking) Name() string { return a.model.Name() }

func (a asking) ask(ctx context.Context, input string) (memoir.Usage, error) {
	answer, err := a.model.Call(ctx, model.Request{System: "Say ok.", Input: input, MaxOutput: a.maxOutput})
	if err != nil {
		return memoir.Usage{}, err
	}
	if len(answer.Text) >= len("useless") && answer.Text[:len("useless")] == "useless" {
		return answer.Usage, &memoir.AnswerError{Err: errors.New("the answer is no JSON")}
	}
	return answer.Usage, nil
}

func (a asking) Extract(ctx context.Context, in extract.Input) (memoir.Extraction, memoir.Usage, error) {
	text := ""
	for _, it := range in.Items {
		text += it.Text + it.Input + it.Output + "\n"
	}
	usage, err := a.ask(ctx, text)
	if err != nil {
		return memoir.Extraction{}, usage, err
	}
	e, _, err := a.extractor.Extract(ctx, in)
	return e, usage, err
}

func (a asking) Consolidate(ctx context.Context, in consolidate.Input) (memoir.Consolidation, memoir.Usage, error) {
	text := ""
	for _, e := range in.Extractions {
		text += e.RawMemory + "\n"
	}
	usage, err := a.ask(ctx, text)
	if err != nil {
		return memoir.Consolidation{}, usage, err
	}
	c, _, err := a.memory.Consolidate(ctx, in)
	return c, usage, err
}

// price is what tokens cost in these tests: a dollar for a thousand read, two for a thousand written.
var price = model.Price{Input: 1000, Output: 2000}

// asks has both phases ask a server of Chat Completions.
func asks(t testing.TB, server *modeltest.Server, o model.Options, maxOutput int) func(pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
	t.Helper()
	o.API, o.BaseURL, o.Timeout = model.APIChat, server.URL+"/v1", time.Minute
	inner, err := model.Open(model.Spec{Provider: "openai", Model: "m"}, o)
	must(t, err)
	atOnce := model.RetryPolicy{Attempts: 3, Sleep: func(context.Context, time.Duration) error { return nil }}
	return func(meter pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
		one := asking{model: model.Retrying(meter(inner, o), atOnce), maxOutput: maxOutput, extractor: extract.NewBuiltin(), memory: consolidate.NewBuiltin()}
		return one, one, nil
	}
}

// prompted writes n sessions of one project, in which a person said something worth keeping.
func prompted(t *testing.T, n int) (home, dir string) {
	t.Helper()
	home, dir = t.TempDir(), t.TempDir()
	prompts(t, dir, n)
	return home, dir
}

// prompts adds such sessions to a directory.
func prompts(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		claudeSession(t, dir, fmt.Sprintf("s%02d", i), "/srv/open/app", fmt.Sprintf("always write the header of fixture %d with its name, the tool and version that wrote it, the date, the owner, the licence and a line on what it is for, and keep the order of these fields as it is in the others", i))
	}
}

// ledger reads what was entered, by outcome, and how the queue stands.
func ledger(t *testing.T, home string) (all memoir.Usage, outcomes map[string]int, status store.Status) {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	rows, err := st.UsageRows(t.Context(), time.Time{})
	must(t, err)
	outcomes = map[string]int{}
	for _, row := range rows {
		all = all.Add(row.Usage)
		outcomes[row.Phase+" "+row.Outcome] += row.Usage.Calls
	}
	if status, err = st.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	return all, outcomes, status
}

// spend enters what another run spent.
func spend(t *testing.T, home string, at time.Time, u memoir.Usage) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{Now: func() time.Time { return at }})
	must(t, err)
	defer st.Close()
	_, err = st.BeginCall(t.Context(), store.Call{Run: "another", Phase: "extract", Model: "openai/m", Expected: u}, nil)
	must(t, err)
}

// alike reports whether two usages are the same but for the last digits of their costs.
func alike(a, b memoir.Usage) bool {
	cost := a.Cost - b.Cost
	a.Cost, b.Cost = 0, 0
	return a == b && cost < 1e-9 && cost > -1e-9
}
