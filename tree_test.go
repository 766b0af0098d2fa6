package memoir_test

import (
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/mod/module"
)

// TestEveryNameInTheTreeIsPortable fails for a file that a module zip or a Windows checkout refuses. It also covers
// files that are not committed yet, so that a test's leftovers are found before they are added.
func TestEveryNameInTheTreeIsPortable(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not a git checkout:", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := module.CheckFilePath(name); err != nil {
			t.Error(err)
		}
	}
}
