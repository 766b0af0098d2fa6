package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"memoir"
	"memoir/testdata"
)

// .ci/forbidden runs this test as nobody and fails where it is missing: it skips for root.
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
