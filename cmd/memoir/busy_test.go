package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir/lease"
	"memoir/store"
	"memoir/testdata"
)

// TestAProjectThatAnotherProcessHoldsIsExitCode4 holds a project's lease in this
// process while another runs.
func TestAProjectThatAnotherProcessHoldsIsExitCode4(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if _, err := testdata.Write(filepath.Join(dir, "sessions")); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		args = append(args, "--home", home, "--sessions", filepath.Join(dir, "sessions"), "--now", testdata.Now.Format(time.RFC3339))
		cmd := exec.Command(released(t), args...)
		cmd.Env = []string{"HOME=" + dir}
		out, err := cmd.CombinedOutput()
		if code := codeOf(t, err); code != want {
			t.Fatalf("%s: exit code %d, want %d\n%s", args, code, want, out)
		}
		return string(out)
	}
	run(exitDone, "run", "-q", "--dry-run")
	st, err := store.Open(t.Context(), filepath.Join(home, databaseName), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	project, err := st.FindProject(t.Context(), testdata.Papertrail)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Enqueue(t.Context(), project.ID); err != nil {
		t.Fatal(err)
	}
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
	restore := exec.Command(released(t), "restore", "1", "--project", testdata.Papertrail, "--home", home, "--wait", "0.05s")
	restore.Env = []string{"HOME=" + dir}
	out, err := restore.CombinedOutput()
	if codeOf(t, err) != exitBusy || !strings.Contains(string(out), lease.Self().Describe()) {
		t.Errorf("restore: %v\n%s", err, out)
	}

	if err := st.GiveBackProject(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if said := run(exitDone, "run"); !strings.Contains(said, "papertrail: published generation 1") {
		t.Errorf("not published after the lease was free:\n%s", said)
	}
}
