package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/model"
	"memoir/model/modeltest"
	"memoir/store"
)

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
