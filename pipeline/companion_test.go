package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was extracted is written down newest first, and each session's summary is there once;
// with the session both go.
func TestRawMemoriesComeNewestFirstAndGoWithTheirSession(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for id, day := range map[string]string{"aaaaaaaa-1": "2026-05-02", "bbbbbbbb-2": "2026-05-04", "cccccccc-3": "2026-05-03"} {
		path := codexSession(t, dir, id, "/srv/app", "main", "Never use npm on the day "+day+", always use pnpm.")
		replaceIn(t, path, "2026-05-01", day)
	}
	first := run(t, options(home, dir))
	root := first.Phase2[0].Root
	wantOrder := func(want ...string) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(root, "raw_memories.md"))
		must(t, err)
		var got []string
		for line := range strings.Lines(string(raw)) {
			if id, ok := strings.CutPrefix(line, "session: "); ok {
				got = append(got, strings.TrimSpace(id))
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("raw memories of %v, want %v", got, want)
		}
		summaries, err := filepath.Glob(filepath.Join(root, "rollout_summaries", "*"))
		if err != nil || len(summaries) != len(want) {
			t.Errorf("summaries: %v, %v", summaries, err)
		}
	}
	wantOrder("bbbbbbbb-2", "cccccccc-3", "aaaaaaaa-1")
	disable(t, home, "codex:cccccccc-3")
	run(t, options(home, dir))
	wantOrder("bbbbbbbb-2", "aaaaaaaa-1")
}
