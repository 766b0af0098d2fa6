package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir/pipeline"
)

// What is foretold is what then happens, and foretelling changes nothing.
func TestWhatForgettingWouldTakeIsToldBefore(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
	first := run(t, options(home, dir))
	root := first.Phase2[0].Root
	appendLine(t, filepath.Join(root, "MEMORY.md"), "\n- pnpm it is [aaaaaaaa 2026-05-01]\n- both say so [aaaaaaaa 2026-05-01, bbbbbbbb 2026-05-01]\n- ask Ada")
	enqueueAll(t, home)
	run(t, options(home, dir))
	before := tree(t, filepath.Join(home, "projects"))

	f := pipeline.Forgetting{Keys: []string{"codex:aaaaaaaa-1"}}
	st := open(t, home)
	defer st.Close()
	would, err := pipeline.PreviewForgetting(t.Context(), st, options(home, dir), f)
	if err != nil || len(would) != 1 {
		t.Fatalf("%+v, %v", would, err)
	}
	for path, content := range tree(t, filepath.Join(home, "projects")) {
		if before[path] != content {
			t.Errorf("%s was changed", path)
		}
	}
	w := would[0]
	if w.Generation != 3 || w.Shared == 0 || len(w.Files) != 1 || fmt.Sprint(w.Archives) != "[generations/1.tar.zst generations/2.tar.zst generations/3.tar.zst]" {
		t.Errorf("%+v", w)
	}
	foretold := map[string]bool{}
	for _, line := range w.Lines {
		foretold[line.Path+": "+line.Text] = true
	}
	for _, want := range []string{"- pnpm it is [aaaaaaaa 2026-05-01]"} {
		if !foretold["MEMORY.md: "+want] {
			t.Errorf("%q is not among %+v", want, w.Lines)
		}
	}
	now := map[string]string{}
	for _, name := range []string{"MEMORY.md", "memory_summary.md"} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		now[name] = string(b)
	}
	if _, err := pipeline.Forget(t.Context(), st, options(home, dir), f); err != nil {
		t.Fatal(err)
	}
	for name, was := range now {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(was) {
			line = strings.TrimSpace(line)
			gone := !strings.Contains(string(b), line)
			if says := strings.Contains(line, "pnpm"); says && gone != foretold[name+": "+line] {
				t.Errorf("%s: %q: gone %v, foretold %v", name, line, gone, foretold[name+": "+line])
			}
		}
	}
}
