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
		"":             "the model's name is empty; write provider/model, or builtin",
		"gpt":          `model "gpt" names no provider; write provider/model, or builtin`,
		"/x":           `model "/x" lacks its provider or its name; write`,
		"x/":           `model "x/" lacks its provider or its name; write`,
		"open ai/gpt":  `the model's name "open ai/gpt" contains spaces; write`,
		"a/b\x00":      `contains spaces; write`,
		"Builtin":      `the built-in model is builtin, not "Builtin"; write builtin`,
		"builtin/x":    `the built-in model is builtin, not "builtin/x"; write builtin`,
		"openai/gpt/":  `model "openai/gpt/" lacks its provider or its name; write`,
		"opnai/gpt-5":  `provider "opnai" is neither known nor configured; did you mean openai/gpt-5?`,
		"OpenAI/gpt-5": `provider "OpenAI" is neither known nor configured; did you mean openai/gpt-5?`,
		"Exec/claude":  `provider "Exec" is neither known nor configured; did you mean exec/claude?`,
		"MINE/x":       `provider "MINE" is neither known nor configured; did you mean mine/x?`,
		"exec/cat":     `no command is known by the name exec/cat; use one of claude, codex, pi, omp, opencode, or name your own command in providers`,
		"exec/":        `model "exec/" lacks its provider or its name; write`,
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

func TestASpecReadsBackAsItself(t *testing.T) {
	t.Parallel()
	for want, spec := range map[string]Spec{"builtin": {Provider: Builtin}, "a/b/c": {Provider: "a", Model: "b/c"}} {
		if spec.String() != want {
			t.Errorf("got %s, want %s", spec, want)
		}
	}
}
