package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

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
