package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/store"
	"memoir/testdata"
)

// unreadable lists the sessions that cannot be read, by the names of their files.
func unreadable(t *testing.T, home string) []string {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	sessions, err := st.Sessions(t.Context(), store.Filter{Reason: memoir.ReasonUnreadable})
	must(t, err)
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
	must(t, os.Remove(loop))
	must(t, os.Remove(invalid))
	run(t, options(home, dir))
	if diff := cmp.Diff(before, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
}

func TestAFileWrittenOverByAnotherSessionLeavesTheFirstWithout(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	path := codexSession(t, dir, "first", "/srv/app", "main", "look around")
	dry := options(home, dir)
	dry.DryRun = true
	run(t, dry)
	must(t, os.Rename(codexSession(t, dir, "second", "/srv/app", "main", "always run make check first"), path))
	if report := run(t, options(home, dir)); report.Phase1.Failed != 0 || report.Phase1.Claimed != 1 {
		t.Errorf("phase 1: %+v, %+v", report.Phase1, report.Warnings)
	}
	if diff := cmp.Diff([]string{"first"}, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
	writeIn(t, path, "")
	if report := run(t, options(home, dir)); report.Phase1.Failed != 0 || report.Scan.Reasons[memoir.ReasonUpToDate] != 1 {
		t.Errorf("what was extracted from the second is kept: %+v, %+v", report.Scan, report.Phase1)
	}
}
