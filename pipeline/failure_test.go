package pipeline_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/store"
	"memoir/testdata"
)

func TestARunThatRanOutOfRoomCostsNothingOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here to set a limit with")
	}
	dir, _ := fixtures(t)
	enlarge(t, dir, 4)
	undisturbed := t.TempDir()
	run(t, options(undisturbed, dir))
	want := tree(t, undisturbed)

	ranOut := 0
	for _, blocks := range []int{100, 300, 600, 800, 1000, 1200, 1400, 1600} { // of 512 bytes, or of 1024
		home := t.TempDir()
		cmd := process(t, home, dir)
		cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, blocks)}, cmd.Args...)
		cmd.Path, _ = exec.LookPath("sh")
		output, err := cmd.CombinedOutput()
		if err != nil {
			ranOut++
			t.Logf("at %d blocks: %s", blocks, output)
			if strings.Contains(string(output), "goroutine ") {
				t.Errorf("at %d blocks: %s", blocks, output)
			}
		}
		st := open(t, home)
		status, err := st.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		st.Close()
		if len(status.Failed) > 0 {
			t.Errorf("at %d blocks: sessions are blamed for the disk: %+v", blocks, status.Failed)
		}
		run(t, options(home, dir))
		if diff := cmp.Diff(want, tree(t, home)); diff != "" {
			t.Errorf("at %d blocks: once there was room the memory differs:\n%s", blocks, diff)
		}
	}
	t.Logf("%d of the limits were reached", ranOut)
	if ranOut == 0 {
		t.Error("no limit was ever reached")
	}
}

// unreadable lists the sessions that cannot be read, by the names of their files.
func unreadable(t *testing.T, home string) []string {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	sessions, err := st.Sessions(t.Context(), store.Filter{Reason: memoir.ReasonUnreadable})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range sessions {
		names = append(names, filepath.Base(s.ID))
	}
	slices.Sort(names)
	return names
}

func TestAFileThatCannotBeReadIsNamedOnceAndTriedAgain(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	if _, err := testdata.Write(dir); err != nil {
		t.Fatal(err)
	}
	run(t, options(home, dir))
	before := unreadable(t, home)

	loop := filepath.Join(dir, "loop.jsonl")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip("no symbolic links here")
	}
	invalid := filepath.Join(dir, "inv\xff.jsonl")
	if err := os.WriteFile(invalid, nil, 0o600); err != nil {
		t.Skip("needs a file system that takes names of any bytes: ", err)
	}
	report := run(t, options(home, dir))
	if len(report.Warnings) != 2 || !strings.Contains(report.Warnings[0].Message, "inv") || !strings.Contains(report.Warnings[1].Message, "loop.jsonl") {
		t.Errorf("warnings: %+v", report.Warnings)
	}
	want := slices.Sorted(slices.Values(append([]string{`inv\xff.jsonl`, "loop.jsonl"}, before...)))
	if diff := cmp.Diff(want, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
	if got := report.Scan.Reasons[memoir.ReasonUnreadable]; got != len(want) {
		t.Errorf("the report counts %d unreadable sessions, not %d", got, len(want))
	}
	if again := run(t, options(home, dir)); again.Scan.Changed != 0 || len(again.Warnings) != 0 {
		t.Errorf("said again: %+v", again)
	}

	// Once they can be read, or are gone, nothing is left of what could not.
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(invalid); err != nil {
		t.Fatal(err)
	}
	run(t, options(home, dir))
	if diff := cmp.Diff(before, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
}

func TestLeaveToReadIsNoticedThoughTheFileDidNotChange(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("needs another user than root, who may read everything")
	}
	home, dir := t.TempDir(), t.TempDir()
	shut := filepath.Join(dir, "shut")
	if _, err := testdata.Write(shut); err != nil {
		t.Fatal(err)
	}
	var file string
	for _, s := range testdata.Expected {
		if s.Project != "" && s.OpenReason() == memoir.ReasonEligible && len(s.Files) == 1 {
			file = filepath.Join(shut, filepath.FromSlash(s.Files[0]))
			break
		}
	}
	chmod := func(path string, mode os.FileMode) {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(shut, 0)
	if report := run(t, options(home, dir)); report.Scan.Reasons[memoir.ReasonUnreadable] != 1 {
		t.Errorf("a closed directory: %+v", report.Scan)
	}
	chmod(shut, 0o700)
	chmod(file, 0)
	closed := run(t, options(home, dir))
	if again := run(t, options(home, dir)); again.Scan.Changed != 0 || len(again.Warnings) != 0 {
		t.Errorf("the closed file is told again: %+v", again)
	}
	if slices.Contains(unreadable(t, home), "shut") {
		t.Error("the directory still counts as closed")
	}
	chmod(file, 0o600)
	opened := run(t, options(home, dir))
	if opened.Scan.Reasons[memoir.ReasonUnreadable] != closed.Scan.Reasons[memoir.ReasonUnreadable]-1 || opened.Phase1.Claimed != 1 {
		t.Errorf("closed: %+v, opened: %+v", closed.Scan, opened.Scan)
	}
}

func TestAFileWrittenOverByAnotherSessionLeavesTheFirstWithout(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	write := func(id, text string) {
		line := fmt.Sprintf(`{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":%q,"timestamp":"2026-05-01T10:00:00Z","cwd":"/src/x"}}`+"\n"+
			`{"timestamp":"2026-05-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`+"\n", id, text)
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("01a20000-0000-7000-8000-000000000001", "look around")
	dry := options(home, dir)
	dry.DryRun = true
	run(t, dry)
	write("01a20000-0000-7000-8000-000000000002", "always run make check first")
	report := run(t, options(home, dir))
	if report.Phase1.Failed != 0 || report.Phase1.Claimed != 1 {
		t.Errorf("phase 1: %+v, %+v", report.Phase1, report.Warnings)
	}
	if diff := cmp.Diff([]string{"01a20000-0000-7000-8000-000000000001"}, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	report = run(t, options(home, dir))
	if report.Phase1.Failed != 0 || report.Scan.Reasons[memoir.ReasonUpToDate] != 1 {
		t.Errorf("what was extracted from the second is kept: %+v, %+v", report.Scan, report.Phase1)
	}
}

func TestASessionThatLostOneOfItsFilesToAnotherIsReadAgain(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	write := func(name, id, hour, text string) {
		line := fmt.Sprintf(`{"timestamp":"2026-05-01T%[2]s:00:00Z","type":"session_meta","payload":{"id":%[1]q,"timestamp":"2026-05-01T%[2]s:00:00Z","cwd":"/src/x"}}`+"\n"+
			`{"timestamp":"2026-05-01T%[2]s:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%[3]q}]}}`+"\n", id, hour, text)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "01a20000-0000-7000-8000-000000000001", "01a20000-0000-7000-8000-000000000002"
	write("a.jsonl", first, "10", "always run make check first")
	write("b.jsonl", first, "11", "never push to main")
	if report := run(t, options(home, dir)); report.Phase1.Claimed != 1 {
		t.Fatalf("phase 1: %+v", report.Phase1)
	}
	write("b.jsonl", second, "12", "prefer tabs in Makefiles")
	if report := run(t, options(home, dir)); report.Phase1.Claimed != 2 || report.Phase1.Failed != 0 {
		t.Errorf("phase 1: %+v", report.Phase1)
	}
}
