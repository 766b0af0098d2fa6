package pipeline_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/memory"
	"memoir/model"
	"memoir/pipeline"
	"memoir/store"
)

// scripted is a language model that answers in turn, and keeps what it was asked. The
// last answer goes on.
type scripted struct {
	mu      sync.Mutex
	answers []string
	asked   []string
}

func (s *scripted) Name() string { return "test/scripted" }
func (s *scripted) Window() int  { return 0 }
func (s *scripted) Call(_ context.Context, q model.Request) (model.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, q.Input)
	return model.Answer{Text: answer, Stop: model.StopEnd, Usage: memoir.Usage{Calls: 1, InputTokens: 10, OutputTokens: 10}}, nil
}

// consolidates has a language model make the memory, and the built-in one extract.
func (s *scripted) consolidates(o pipeline.Options) pipeline.Options {
	o.Phases = func(meter pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
		return extract.NewBuiltin(), consolidate.LLM{Model: meter(s, model.Options{})}, nil
	}
	return o
}

func answerOf(t *testing.T, memory, summary string, skills ...any) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"memory_md": memory, "memory_summary": summary, "skills": append([]any{}, skills...)})
	must(t, err)
	return string(data)
}

func skillOf(name, content string, scripts ...map[string]string) any {
	none := []map[string]string{}
	return map[string]any{"name": name, "description": "how it is done", "content": content, "scripts": append(none, scripts...), "templates": none, "examples": none}
}

// agreeing writes a session that is to be forgotten and one beside it, which agree on one
// thing. It returns how both are cited, and a skill that cites both, whose script says what
// only the first one said.
func agreeing(t *testing.T, dir string) (both string, fix any) {
	t.Helper()
	codexSession(t, dir, secretID, "/srv/app", "main", "Never deploy to the zanzibar cluster on Fridays. Always use pnpm instead of npm.")
	codexSession(t, dir, besideID, "/srv/app", "main", "Always write the header of a fixture first. Always use pnpm instead of npm.")
	both = "[aaaaaaaa 2026-05-01, bbbbbbbb 2026-05-01]"
	script := map[string]string{"path": "fix.sh", "content": "# Never deploy to the zanzibar cluster on Fridays.\nset -euo pipefail\n"}
	return both, skillOf("fix", "# Fix\n\n- write the header of the fixture first "+both+"\n", script)
}

func TestForgettingAsksNoLanguageModel(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	both, fix := agreeing(t, dir)
	m := &scripted{answers: []string{answerOf(t,
		"## User preferences\n\n- never deploy to the zanzibar cluster on Fridays [aaaaaaaa 2026-05-01]\n- always use pnpm instead of npm "+both+"\n- always write the header of a fixture first [bbbbbbbb 2026-05-01]\n\n## What is known\n\n- zanzibar sleeps on Sundays "+both+"\n",
		"## What the user wants\n\n- never deploy to the zanzibar cluster on Fridays\n- always use pnpm instead of npm\n",
		skillOf("ship", "# Ship\n\n- leave zanzibar alone on Fridays [aaaaaaaa 2026-05-01]\n"),
		fix,
	)}}
	o := m.consolidates(options(home, dir))
	report := run(t, o)
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || len(m.asked) != 1 {
		t.Fatalf("%+v, %d calls", report, len(m.asked))
	}
	project := report.Phase2[0].Project
	before := liveText(t, home, project)
	for _, text := range []string{"zanzibar sleeps", "skills/ship/SKILL.md", "skills/fix/scripts/fix.sh", "deploy to the zanzibar"} {
		if !strings.Contains(before, text) {
			t.Fatalf("%q is not there to begin with:\n%s", text, before)
		}
	}
	appendLine(t, filepath.Join(memory.At(home, project).Link(), "MEMORY.md"), "\n- zanzibar by hand [aaaaaaaa 2026-05-01]\n- ask Ada before a release")
	done := forgotten(t, o, store.Forgetting{Keys: []string{"codex:" + secretID}, Purge: true})
	after := liveText(t, home, project)
	if len(m.asked) != 1 || done.Projects[0].Outcome != pipeline.OutcomePublished {
		t.Errorf("%d calls, %+v", len(m.asked), done)
	}
	for _, text := range []string{"zanzibar", "aaaaaaaa", "skills/ship"} {
		if strings.Contains(after, text) {
			t.Errorf("%q is left:\n%s", text, after)
		}
	}
	for _, text := range []string{"- always use pnpm instead of npm [bbbbbbbb 2026-05-01]", "header of a fixture", "skills/fix/SKILL.md", "ask Ada before a release"} {
		if !strings.Contains(after, text) {
			t.Errorf("%q is gone:\n%s", text, after)
		}
	}
	if found := holding(t, home, "zanzibar"); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}

	// What is new meanwhile waits for the model, which sees nothing of what is gone.
	run(t, o)
	if len(m.asked) != 1 {
		t.Errorf("the next run asks although nothing is new")
	}
	codexSession(t, dir, "cccccccc-1111-4222-8333-444444444444", "/srv/app", "main", "Never print the ledger of the month.")
	run(t, o)
	if len(m.asked) < 2 {
		t.Fatal("a new session is not consolidated")
	}
	for _, asked := range m.asked[1:] {
		if strings.Contains(asked, "zanzibar") {
			t.Errorf("the model is shown what was forgotten:\n%s", asked)
		}
	}
}
