package rollout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
)

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

func TestCorpusPrefixesGiveTheSameItems(t *testing.T) {
	t.Parallel()
	dir := corpusDir(t)
	for _, file := range []string{"codex/mise/019f3a7f-f096-75e3-a84a-6d5acb9028de.jsonl",
		"pi/pi-mono/packages__coding-agent__test__fixtures__large-session.jsonl"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Skip("not in the corpus: ", err)
			}
			lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
			items, _ := read(t, filepath.Join(dir, file))
			checkPrefixes(t, lines, items, len(lines)/12)
		})
	}
}

// typed are the words of people in a thread.
func typed(items []memoir.Item) []string {
	var out []string
	for _, it := range items {
		if it.Origin == memoir.OriginTyped || it.Origin == memoir.OriginSubagentTask {
			out = append(out, it.Text)
		}
	}
	return out
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
		parts, dropped := Assemble(threads[tt.id])
		if len(parts) == 0 || len(dropped) != 0 {
			t.Errorf("%s: %d parts, %d dropped", tt.name, len(parts), len(dropped))
			continue
		}
		items, _ := readParts(t, parts)
		if got := typed(items); !slices.Equal(got, tt.prompts) || len(items) != tt.items {
			t.Errorf("%s: prompts %q in %d items", tt.name, got, len(items))
		}
		if kind := parts[len(parts)-1].Head.Kind; kind != tt.kind {
			t.Errorf("%s: kind %s", tt.name, kind)
		}
	}
}

func TestCorpusDamagedFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(corpusDir(t), "synthetic")
	tests := []struct {
		file  string
		items []string
		cut   bool
	}{
		{"truncated.jsonl", []string{"typed: LEGACY PROMPT"}, true},
		{"glued.jsonl", []string{"typed: LEGACY PROMPT", "agent: LEGACY ANSWER"}, false},
		{"crlf-bom/rollout-bom-crlf.jsonl", []string{"typed: LEGACY PROMPT", "agent: LEGACY ANSWER"}, false},
	}
	for _, tt := range tests {
		items, stats := read(t, filepath.Join(dir, tt.file))
		expect(t, items, tt.items...)
		if stats.CutTail != tt.cut || stats.Malformed != 0 {
			t.Errorf("%s: stats %+v", tt.file, stats)
		}
	}
}
