package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

// codexSession writes a session of one prompt and answer, and returns its file.
func codexSession(t *testing.T, dir, id, cwd, branch, prompt string) string {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	text := fmt.Sprintf(`{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":%q,"timestamp":"2026-05-01T10:00:00Z","cwd":%q,"originator":"codex-tui","cli_version":"0.150.0","source":"cli","git":{"branch":%q}}}
{"timestamp":"2026-05-01T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":%q}}
{"timestamp":"2026-05-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done: the importer failed because the header was missing, so parse.go now writes one."}]}}
`, id, cwd, branch, prompt)
	path := filepath.Join(dir, id+".jsonl")
	writeIn(t, path, text)
	return path
}

func appendLine(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString(line + "\n")
	must(t, errors.Join(err, f.Close()))
}

func TestWhatWasRolledBackIsWithdrawn(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	path := codexSession(t, dir, "one", "/srv/app", "main", "Never use npm, always use pnpm.")
	codexSession(t, dir, "two", "/srv/app", "main", "Always write the header of a fixture.")
	first := run(t, options(home, dir))
	if text := memoryOf(t, first, "app", "MEMORY.md"); !strings.Contains(text, "pnpm") {
		t.Fatalf("the preference is not there to begin with:\n%s", text)
	}
	appendLine(t, path, `{"timestamp":"2026-05-01T10:00:03Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`)
	second := run(t, options(home, dir))
	if text := memoryOf(t, second, "app", "MEMORY.md"); strings.Contains(text, "pnpm") {
		t.Errorf("what was undone is still there:\n%s", text)
	}
}

// silent extracts nothing.
type silent struct{ extract.Extractor }

func (silent) Extract(context.Context, extract.Input) (memoir.Extraction, error) {
	return memoir.Extraction{}, nil
}

func TestAnEmptyExtractionWithdrawsNothingThatWasNotUndone(t *testing.T) {
	t.Parallel()
	typed := func(text string) string {
		return `{"timestamp":"2026-05-01T10:00:04Z","type":"event_msg","payload":{"type":"user_message","message":"` + text + `"}}`
	}
	for name, change := range map[string]func(path string){
		"other words, and nothing undone": func(path string) { replaceIn(t, path, "Never use npm, always", "Please") },
		"only later turns undone": func(path string) {
			const undo = `{"timestamp":"2026-05-01T10:00:05Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`
			for _, line := range []string{typed("Try yarn."), undo, typed("Go on.")} {
				appendLine(t, path, line)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			path := codexSession(t, dir, "one", "/srv/app", "main", "Never use npm, always use pnpm.")
			codexSession(t, dir, "two", "/srv/app", "main", "Always write the header of a fixture.")
			first := run(t, options(home, dir))
			change(path)
			o := options(home, dir)
			o.Phases = func(pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
				return silent{extract.NewBuiltin()}, consolidate.NewBuiltin(), nil
			}
			report := run(t, o)
			if text := memoryOf(t, first, "app", "MEMORY.md"); !strings.Contains(text, "pnpm") || report.Phase1.Empty != 1 {
				t.Errorf("%+v:\n%s", report.Phase1, text)
			}
		})
	}
}

func TestAMemoryWhoseSessionsWereAllTakenOutKeepsOnlyWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	for _, maker := range []string{"the built-in model", "a language model"} {
		t.Run(maker, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			o := options(home, dir)
			if maker == "a language model" {
				server := modeltest.Serve(t, func(int, modeltest.Call) modeltest.Step { return modeltest.Step{Text: "ok"} })
				o.Phases = asks(t, server, model.Options{}, 0)
			}
			codexSession(t, dir, "one", "/srv/app", "main", "Never use npm, always use pnpm.")
			first := run(t, o)
			root := first.Phase2[0].Root
			appendLine(t, filepath.Join(root, "MEMORY.md"), "\n## Ours\n\n- ask Ada before a release")

			disable(t, home, "codex:one")
			second := run(t, o)
			text := memoryOf(t, second, "app", "MEMORY.md")
			if strings.Contains(text, "pnpm") || !strings.Contains(text, "- ask Ada before a release") ||
				second.Phase2[0].Outcome != pipeline.OutcomePublished {
				t.Errorf("outcome %s:\n%s", second.Phase2[0].Outcome, text)
			}
			if again := run(t, o); len(again.Phase2) != 0 {
				t.Errorf("and again: %+v", again.Phase2)
			}
		})
	}
}

func TestALineThatCitesASessionBeyondTheCapStays(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	first := run(t, options(home, dir))
	appendLine(t, filepath.Join(first.Phase2[0].Root, "MEMORY.md"), "\n- pnpm it is, see [aaaaaaaa 2026-05-01]\n- freeze begins [release 2026-12-01]")

	path := codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
	replaceIn(t, path, "2026-05-01", "2026-05-02")
	o := options(home, dir)
	o.Settings.Memories.MaxRawMemoriesForGlobal = 1
	second := run(t, o)
	text := memoryOf(t, second, "app", "MEMORY.md")
	for _, line := range []string{"pnpm it is, see", "freeze begins [release 2026-12-01]"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is gone:\n%s", line, text)
		}
	}
}

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
