package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnEditThatWasSavedTooLateIsForetoldAndKept(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	run(t, options(home, dir))
	codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
	run(t, options(home, dir))
	dry := options(home, dir)
	dry.DryRun = true
	if would := run(t, dry).Would; len(would) != 0 {
		t.Fatalf("before: %+v", would)
	}
	earlier, err := filepath.Glob(filepath.Join(home, "projects", "*", "live", "1", "MEMORY.md"))
	if err != nil || len(earlier) != 1 {
		t.Fatal(earlier, err)
	}
	appendLine(t, earlier[0], "\n## House rules\n\n- never on a Friday")
	if would := run(t, dry).Would; len(would) != 1 || would[0].Action != "consolidate" {
		t.Errorf("foretold: %+v", would)
	}
	run(t, options(home, dir))
	live, err := os.ReadFile(filepath.Join(filepath.Dir(earlier[0]), "..", "..", "memory", "MEMORY.md"))
	if err != nil || !strings.Contains(string(live), "never on a Friday") {
		t.Errorf("%v: %s", err, live)
	}
	if would := run(t, dry).Would; len(would) != 0 {
		t.Errorf("afterwards: %+v", would)
	}
}
