package pipeline_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

func TestTheLedgerAddsUpToWhatTheServerCounted(t *testing.T) {
	t.Parallel()
	ok := modeltest.Step{Text: "ok"}
	asked := make(chan struct{})
	useless := func(n int, _ modeltest.Call) modeltest.Step {
		if n == 5 {
			close(asked)
		}
		<-asked // by all: after a few such answers nobody else is asked about
		return modeltest.Step{Text: "useless, this"}
	}
	for _, test := range []struct {
		name   string
		script func(n int, c modeltest.Call) modeltest.Step
		want   map[string]int // calls by phase and outcome
		ends   bool           // the run, with the model's fault
	}{
		{"all is well", modeltest.Script(ok), map[string]int{"extract stored": 6, "consolidate published": 1}, false},
		{"it is busy now and then", func(n int, _ modeltest.Call) modeltest.Step {
			if n%3 == 1 {
				return modeltest.Step{Status: 429, Message: "later"}
			}
			return ok
		}, nil, false},
		{"its answers are of no use", useless, map[string]int{"extract refused": 6}, true},
		{"it knows nobody", modeltest.Script(modeltest.Step{Status: 401, Message: "no"}), map[string]int{"extract failed": 6}, true},
		{"it consolidates badly", func(n int, _ modeltest.Call) modeltest.Step {
			if n >= 6 {
				return modeltest.Step{Text: "useless"}
			}
			return ok
		}, map[string]int{"extract stored": 6, "consolidate refused": 1}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 6)
			server := modeltest.OpenAIChat(t, test.script)
			o := options(home, dir)
			o.Phases = asks(t, server, model.Options{Price: price}, 0)
			report, err := tryRun(t.Context(), t, o)
			if test.ends && memoir.CodeOf(err) != memoir.CodeModel || !test.ends && err != nil {
				t.Fatal(err)
			}
			all, outcomes, _ := ledger(t, home)
			want := server.Used()
			want.Cost = price.Cost(want)
			if !alike(all, want) || !alike(report.Usage, want) {
				t.Errorf("the server counted %+v, the ledger has %+v, the report %+v", want, all, report.Usage)
			}
			if diff := cmp.Diff(test.want, outcomes); test.want != nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnInterruptedCallIsInTheLedgerAndCostsNoAttempt(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	server := modeltest.OpenAIChat(t, func(n int, _ modeltest.Call) modeltest.Step {
		if n == 2 { // all three are under way
			cancel(memoir.Errorf(memoir.CodeInterrupted, "", "enough"))
		}
		return modeltest.Step{Hang: true}
	})
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{}, 0)
	report, err := tryRun(ctx, t, o)
	if memoir.CodeOf(err) != memoir.CodeInterrupted || report.Phase1.GivenBack != 3 {
		t.Errorf("%v, %+v", err, report.Phase1)
	}
	// A server that was asked has read the questions; there are no answers.
	all, _, calls := ends(t, home)
	if diff := cmp.Diff(map[string]int{"extract interrupted: interrupted, estimated": 3}, calls); diff != "" || all.InputTokens == 0 || all.OutputTokens > 0 || report.Usage != all {
		t.Errorf("%s%+v, the report has %+v", diff, all, report.Usage)
	}
	_, outcomes, status := ledger(t, home)
	if diff := cmp.Diff(map[string]int{"extract interrupted": 3}, outcomes); diff != "" {
		t.Error(diff)
	}
	if status.Jobs["pending"] != 3 || len(status.Failed)+len(status.Dead) > 0 {
		t.Errorf("%+v", status)
	}
}

func TestAConsolidationThatChangedNothingIsInTheLedger(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 1)
	server := modeltest.OpenAIChat(t, modeltest.Script(modeltest.Step{Text: "ok"}))
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{}, 0)
	first := run(t, o)
	st := open(t, home)
	if err := st.Enqueue(t.Context(), first.Phase2[0].Project); err != nil {
		t.Fatal(err)
	}
	st.Close()
	if again := run(t, o); len(again.Phase2) != 1 || again.Phase2[0].Outcome != pipeline.OutcomeUnchanged {
		t.Fatalf("%+v", again.Phase2)
	}
	_, outcomes, _ := ledger(t, home)
	if diff := cmp.Diff(map[string]int{"extract stored": 1, "consolidate published": 1, "consolidate unchanged": 1}, outcomes); diff != "" {
		t.Error(diff)
	}
}

func TestWhatATakenOverSessionCostIsInTheLedger(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 1)
	server := modeltest.OpenAIChat(t, func(int, modeltest.Call) modeltest.Step {
		st := open(t, home)
		defer st.Close()
		projects, err := st.Projects(t.Context())
		if err != nil || len(projects) != 1 {
			t.Errorf("%v, %v", projects, err)
			return modeltest.Step{}
		}
		if err := st.Clear(t.Context(), projects[0].ID); err != nil { // its claims lose
			t.Error(err)
		}
		return modeltest.Step{Text: "ok"}
	})
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{}, 0)
	report := run(t, o)
	all, outcomes, _ := ledger(t, home)
	if diff := cmp.Diff(map[string]int{"extract " + store.OutcomeLost: 1}, outcomes); diff != "" || !alike(all, server.Used()) {
		t.Errorf("%s%+v, %+v", diff, all, report.Phase1)
	}
}
