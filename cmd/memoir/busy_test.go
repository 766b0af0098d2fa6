//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"memoir/lease"
	"memoir/store"
	"memoir/testdata"
)

// This process holds a project's lease while another runs.
func TestAProjectThatAnotherProcessHoldsIsExitCode4(t *testing.T) {
	t.Parallel()
	try := newTorture(t, few(t, len(fewNames)), "").trial(t)
	run := func(want int, args ...string) string {
		t.Helper()
		out, err := try.run("", args...)
		if code := codeOf(t, err); code != want {
			t.Fatalf("%s: exit code %d, want %d\n%s", args, code, want, out.stderr)
		}
		return out.stderr
	}
	run(exitDone, "run", "-q", "--dry-run")
	st := openStore(t, try.home)
	defer st.Close()
	project, err := st.FindProject(t.Context(), testdata.Papertrail)
	must(t, err)
	must(t, st.Enqueue(t.Context(), project.ID))
	claim, ok, err := st.ClaimProject(t.Context(), project.ID, store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Hour})
	if err != nil || !ok {
		t.Fatalf("claim: %v, %v", ok, err)
	}
	said := run(exitBusy, "run")
	for _, want := range []string{"memoir: papertrail: busy: ", lease.Self().Describe(), "memoir: hint: --wait 5m waits for it", "memoir: lanternd: published generation 1"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q was not said:\n%s", want, said)
		}
	}
	run(exitBusy, "run", "--wait", "0.05s")
	run(exitBusy, "run", "--json")
	if said := run(exitBusy, "restore", "1", "--project", testdata.Papertrail, "--wait", "0.05s"); !strings.Contains(said, lease.Self().Describe()) {
		t.Errorf("restore does not say who holds it:\n%s", said)
	}
	must(t, st.GiveBack(t.Context(), claim))
	if said := run(exitDone, "run"); !strings.Contains(said, "papertrail: published generation 1") {
		t.Errorf("not published after the lease was free:\n%s", said)
	}
}
