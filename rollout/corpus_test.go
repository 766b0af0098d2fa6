package rollout

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"memoir"
)

// corpusDir is the directory of real sessions, or the test is skipped.
func corpusDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("MEMOIR_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	if !isDir(dir) {
		tb.Skipf("no corpus of sessions at %s (set MEMOIR_CORPUS)", dir)
	}
	return dir
}

func TestCorpusReadsWithoutDamage(t *testing.T) {
	t.Parallel()
	dir := corpusDir(t)
	for agent, source := range map[string]memoir.Source{"codex": memoir.SourceCodex, "claude": memoir.SourceClaude, "pi": memoir.SourcePi, "gemini": memoir.SourceGemini} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			for _, e := range collect(t, func(fn func(Entry) error) error { return WalkDir(t.Context(), filepath.Join(dir, agent), fn) }) {
				head, err := Probe(e)
				if err != nil {
					t.Error(err)
					continue
				}
				items, stats := readParts(t, []Part{{Path: e.Path, Head: head}})
				if head.Source != source || head.Kind != memoir.KindMain || head.ID == "" || head.CreatedAt.IsZero() || head.UpdatedAt.Before(head.CreatedAt) {
					t.Errorf("%s: head %+v", e.Path, head)
				}
				if stats.Malformed != 0 || stats.Elided != 0 || stats.CutTail || len(stats.Unknown) != 0 {
					t.Errorf("%s: stats %+v", e.Path, stats)
				}
				if source != memoir.SourceGemini && (len(items) == 0 || head.CWD == "" || head.Title == "") {
					t.Errorf("%s: %d items, head %+v", e.Path, len(items), head)
				}
				for _, it := range items {
					if it.At.IsZero() || it.Kind == memoir.ItemTool && it.Tool == "" || it.Tool == "unknown" {
						t.Errorf("%s: item %+v", e.Path, it)
					}
				}
				checkRepetition(t, e.Path, items)
			}
		})
	}
}

// checkRepetition finds utterances that stand twice in a row: what both copies of
// a format being read would give.
func checkRepetition(t *testing.T, path string, items []memoir.Item) {
	t.Helper()
	for i := 1; i < len(items); i++ {
		a, b := items[i-1], items[i]
		if a.Kind == memoir.ItemMessage && a.Role == memoir.RoleAssistant && a.Role == b.Role && a.Text == b.Text {
			t.Errorf("%s: item %d repeats the one before", path, b.N)
		}
	}
}

func TestCorpusCodexHome(t *testing.T) {
	t.Parallel()
	home := filepath.Join(corpusDir(t), "synthetic", "codex-home")
	threads := map[string][]Part{}
	env := Env{Getenv: func(name string) string {
		if name == "CODEX_HOME" {
			return home
		}
		return ""
	}}
	for _, e := range collect(t, func(fn func(Entry) error) error { return Walk(t.Context(), env, fn) }) {
		head, err := Probe(e)
		if err != nil {
			t.Fatal(err)
		}
		threads[head.ID] = append(threads[head.ID], Part{Path: e.Path, Head: head})
	}
	const prefix = "01a20000-0000-7000-8000-0000000000"
	tests := []struct {
		name, id string
		kind     memoir.SessionKind
		prompts  []string
		items    int
	}{
		{"a thread in three files", prefix + "01", memoir.KindMain, []string{"FIRST PROMPT: add a retry to the uploader", "SECOND PROMPT: and log it", "THIRD PROMPT: thanks"}, 6},
		{"a guardian", prefix + "b1", memoir.KindSubagent, []string{"GUARDIAN PROMPT: judge this action"}, 2},
		{"a sub-agent", prefix + "c1", memoir.KindSubagent, []string{"SUBAGENT TASK: check the tests"}, 2},
		{"an archived thread", prefix + "d1", memoir.KindMain, []string{"LEGACY PROMPT"}, 2},
	}
	for _, tt := range tests {
		parts := Assemble(threads[tt.id])
		if len(parts) == 0 || len(parts) != len(threads[tt.id]) {
			t.Errorf("%s: %d parts of %d", tt.name, len(parts), len(threads[tt.id]))
			continue
		}
		items, _ := readParts(t, parts)
		var prompts []string
		for _, it := range items {
			if it.Role == memoir.RoleUser {
				prompts = append(prompts, it.Text)
			}
		}
		if !slices.Equal(prompts, tt.prompts) || len(items) != tt.items {
			t.Errorf("%s: prompts %q in %d items", tt.name, prompts, len(items))
		}
		if kind := parts[len(parts)-1].Head.Kind; kind != tt.kind {
			t.Errorf("%s: kind %s", tt.name, kind)
		}
	}
}
