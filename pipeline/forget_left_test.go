package pipeline_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/lease"
	"memoir/store"
)

// begunForgetting is a home in which a process died when the tombstones of the first
// of two sessions stood.
func begunForgetting(t *testing.T) (home, dir, project string) {
	t.Helper()
	home, dir, project = twoSessions(t)
	st := open(t, home)
	defer st.Close()
	claim, ok, err := st.ClaimProject(t.Context(), project, store.ProjectClaimOptions{Holder: lease.Self(), Lease: 1 << 40, Always: true})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(t, st.BeginForgetting(t.Context(), claim, store.Forgetting{Keys: []string{"codex:" + secretID}}))
	must(t, st.GiveBack(t.Context(), claim))
	return home, dir, project
}

// Whatever a run lacks for its own work, it ends what forgetting began.
func TestForgettingIsFinishedByARunThatCannotBegin(t *testing.T) {
	t.Parallel()
	home, dir, project := begunForgetting(t)
	o := options(home, dir)
	dry := o
	dry.DryRun = true
	before := liveText(t, home, project)
	if run(t, dry); liveText(t, home, project) != before {
		t.Errorf("a dry run forgot")
	}
	o.Settings = load(t, "modelRoles: {default: openai/gpt-5}") // without a key
	if _, err := tryRun(t.Context(), t, o); memoir.CodeOf(err) != memoir.CodeConfig {
		t.Fatalf("the run ended with %v", err)
	}
	if text := liveText(t, home, project); strings.Contains(text, "zanzibar") || !strings.Contains(text, "pnpm") {
		t.Errorf("the live memory says:\n%s", text)
	}
	st := open(t, home)
	defer st.Close()
	if left, err := st.Withdrawals(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}
