package model

import (
	"strings"
	"testing"

	"memoir"
)

func TestParseSpec(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"builtin", " builtin\n"} {
		spec, err := ParseSpec(text)
		if err != nil || !spec.Builtin() || spec.String() != "builtin" {
			t.Errorf("%q: got %v, %v", text, spec, err)
		}
	}
	for text, want := range map[string]string{
		"":             `"" is not the name of a model; write provider/model, or builtin`,
		"gpt":          `"gpt" is not the name of a model; write`,
		"/x":           `"/x" is not the name`,
		"x/":           `"x/" is not the name`,
		"open ai/gpt":  `"open ai/gpt" is not the name`,
		"a/b\x00":      `is not the name of a model; write`,
		"Builtin":      `the built-in model is builtin, not "Builtin"; write builtin`,
		"builtin/x":    `the built-in model is builtin, not "builtin/x"; write builtin`,
		"openai/gpt/":  `"openai/gpt/" is not the name`,
		"opnai/gpt-5":  `provider "opnai" is neither known nor configured; did you mean openai/gpt-5?`,
		"OpenAI/gpt-5": `provider "OpenAI" is neither known nor configured; did you mean openai/gpt-5?`,
		"Exec/claude":  `provider "Exec" is neither known nor configured; did you mean exec/claude?`,
		"MINE/x":       `provider "MINE" is neither known nor configured; did you mean mine/x?`,
		"exec/cat":     `no command is known by the name exec/cat; use one of claude, codex, pi, omp, opencode, or name your own command in providers`,
		"exec/":        `"exec/" is not the name`,
	} {
		spec, err := ParseSpec(text, "mine")
		if memoir.CodeOf(err) != memoir.CodeConfig || spec != (Spec{}) {
			t.Errorf("%q: got %v, %v", text, spec, err)
			continue
		}
		if got := err.Error() + "; " + memoir.HintOf(err); !strings.Contains(got, want) {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestParseSpecOfWhatCanBeCalled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Spec{
		"openai/gpt-5":               {"openai", "gpt-5"},
		"openrouter/meta/llama:free": {"openrouter", "meta/llama:free"},
		"ollama/qwen3:8b":            {"ollama", "qwen3:8b"},
		" anthropic/claude-opus-5\n": {"anthropic", "claude-opus-5"},
		"exec/claude":                {"exec", "claude"},
		"exec/codex/gpt-5":           {"exec", "codex/gpt-5"},
		"mine/x":                     {"mine", "x"},
	} {
		spec, err := ParseSpec(text, "other", "mine")
		if err != nil || spec != want || spec.String() != strings.TrimSpace(text) {
			t.Errorf("%q: got %v, %v", text, spec, err)
		}
	}
	if spec, err := ParseSpec("exec/cat", "exec"); err != nil || spec != (Spec{"exec", "cat"}) {
		t.Errorf("got %v, %v", spec, err)
	}
}
