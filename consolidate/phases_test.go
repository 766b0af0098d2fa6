package consolidate_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/extract"
	"memoir/model"
	"memoir/prompts"
)

// examples are the indented lines of a part of a prompt.
func examples(part string) string {
	var b strings.Builder
	for l := range strings.Lines(part) {
		if line, ok := strings.CutPrefix(l, "    "); ok {
			b.WriteString(line)
		} else if b.Len() > 0 && strings.TrimSpace(l) == "" {
			b.WriteString("\n")
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// asPrompted is what a language model makes of two sessions that answers with the
// very examples of its prompt.
func asPrompted(t *testing.T) (example string, out []memoir.Extraction) {
	t.Helper()
	set, err := prompts.Default()
	if err != nil {
		t.Fatal(err)
	}
	system, _, err := set.StageOne(prompts.StageOneVars{})
	if err != nil {
		t.Fatal(err)
	}
	example = examples(system)
	for n := range 2 {
		end := time.Date(2026, 7, 2+n, 12, 0, 0, 0, time.UTC)
		in := extract.Input{Session: memoir.Session{ID: id(n + 1), Source: memoir.SourceCodex, CWD: "/home/dev/app", CreatedAt: end.Add(-time.Hour), UpdatedAt: end}}
		for i := range 50 { // each shows all of it, so that the forms alone are tested
			in.Items = append(in.Items, memoir.Item{N: i + 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: example, At: end, CWD: "/home/dev/app"})
		}
		answer, err := json.Marshal(map[string]string{"raw_memory": example, "rollout_summary": "# Queue\n\nIt survives a restart.\n", "rollout_slug": "queue-restart"})
		if err != nil {
			t.Fatal(err)
		}
		m := &scripted{answers: []func(model.Request) (model.Answer, error){says(string(answer))}}
		e, _, err := extract.NewLLM(extract.LLM{Model: m, Prompts: set}).Extract(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return example, out
}

// Phase 1 by a language model and Phase 2 by the built-in one: what the prompt asks for
// is what is read.
func TestTheBuiltInModelReadsWhatThePromptAsksFor(t *testing.T) {
	t.Parallel()
	example, extractions := asPrompted(t)
	if got := extractions[0].RawMemory; strings.TrimSpace(got) != strings.TrimSpace(example) {
		t.Errorf("the prompt's own form is changed:\n%s\nwant\n%s", got, example)
	}
	c := build(t, input(extractions...))
	for heading, wants := range map[string][]string{
		"## User preferences":               {"- never push to main: “always open a PR, even for typos” ["},
		"## Build, test and other commands": {"- `go test ./store/` passes (ran 4 times) [", "- `cd web && npm run build` works (ran 2 times) — runs `vite build` ["},
		"## What is known":                  {"- `store/lock.go` keeps one lock a file, because two processes may hold the same database ["},
		"## Failures and fixes": {
			"- `make gen` failed: protoc: command not found → passed after `make tools` — the plugin is no part of the image [",
			"- `go test ./store/` failed: database is locked — two writers without a timeout — passed after editing `store/open.go` [",
		},
		"## Files that matter": {"- `store/queue.go` — changed in 2 sessions (claims jobs and gives them back) ["},
		"## Environment":       {"- `protoc` is not installed here; `make tools` fetches it ["},
		"## Recent work":       {"— partial"},
		"## Open ends":         {"- `make release` failed: error: no signing key — unresolved [", "the tag `v1.4.0` is pushed; the release job still failed on 2026-07-02 ["},
	} {
		for _, want := range wants {
			if !contains(under(c.MemoryMD, heading), want) {
				t.Errorf("%s has no %q:\n%s", heading, want, strings.Join(under(c.MemoryMD, heading), "\n"))
			}
		}
	}
	for heading, want := range map[string]string{
		"## What the user wants": "- never push to main: “always open a PR, even for typos” [",
		"## Build, test, run":    "- test: `go test ./store/` [",
		"## Failures to avoid":   "- `make gen` failed: protoc: command not found → passed after `make tools`",
		"## What to know":        "- `store/lock.go` keeps one lock a file",
		"## Open ends":           "the release job still failed",
	} {
		if !contains(under(c.MemorySummary, heading), want) {
			t.Errorf("%s has no %q:\n%s", heading, want, c.MemorySummary)
		}
	}
	if len(c.Skills) != 1 || !strings.Contains(c.Skills[0].Content, "make gen") || !strings.Contains(c.Skills[0].Content, "git push --tags") {
		t.Errorf("the procedure of two sessions is no skill: %v", c.Skills)
	}
}

// Phase 1 by a language model that keeps to no form: what helped is not lost.
func TestAFailureInOtherWordsIsStillOneToAvoid(t *testing.T) {
	t.Parallel()
	c := build(t, input(session(0, id(1), "Task: generate the code", "Outcome: done — the code is generated",
		"Failures: `protoc-gen-go: program not found`: the plugin is not installed; fixed by `make tools`")))
	want := "- `protoc-gen-go: program not found` → fixed by `make tools` — the plugin is not installed ["
	if !contains(under(c.MemorySummary, "## Failures to avoid"), want) || !contains(under(c.MemoryMD, "## Failures and fixes"), want) {
		t.Errorf("%q is not told:\n%s\n%s", want, c.MemoryMD, c.MemorySummary)
	}
}

// Phase 2 by a language model that answers with the very examples of its prompt: they
// are laid out as they stand, so they have the form of a memory.
func TestThePromptsExampleOfAMemoryHasItsForm(t *testing.T) {
	t.Parallel()
	system, _, err := prompts.Consolidate(prompts.ConsolidateVars{})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(system, "\n# memory_md\n")
	memory, rest, _ := strings.Cut(rest, "\n# memory_summary\n")
	summary, _, _ := strings.Cut(rest, "\n# skills\n")
	one := session(0, "019f1fd6-aaaa-7000-8000-000000000001", "Task: x")
	two := session(1, "019f231b-aaaa-7000-8000-000000000002", "Task: address pr feedback", "Preferences: “the person's words”")
	in := input(one, two)
	m := &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(examples(memory), examples(summary)))}}
	c, _, err := ask(t, in, m)
	if err != nil {
		t.Fatal(err)
	}
	for text, got := range map[string]string{examples(memory): c.MemoryMD, examples(summary): c.MemorySummary} {
		var lost []string
		for l := range strings.Lines(text) {
			if l = strings.TrimRight(l, "\n"); l != "" && !slices.Contains(strings.Split(got, "\n"), l) {
				lost = append(lost, l)
			}
		}
		if lost != nil {
			t.Errorf("changed or lost:\n%s\nin\n%s", strings.Join(lost, "\n"), got)
		}
	}
}
