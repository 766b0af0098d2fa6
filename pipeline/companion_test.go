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
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "2026-05-01", day)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := run(t, options(home, dir))
	root := first.Phase2[0].Root
	wantOrder := func(want ...string) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(root, "raw_memories.md"))
		if err != nil {
			t.Fatal(err)
		}
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
	st := open(t, home)
	if err := st.SetDisabled(t.Context(), "codex:cccccccc-3", true); err != nil {
		t.Fatal(err)
	}
	st.Close()
	run(t, options(home, dir))
	wantOrder("bbbbbbbb-2", "aaaaaaaa-1")
}
