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
		"":                      "the model's name is empty; write provider/model, or builtin",
		"gpt":                   `model "gpt" names no provider; write provider/model, or builtin`,
		"/x":                    `model "/x" lacks its provider or its name; write`,
		"x/":                    `model "x/" lacks its provider or its name; write`,
		"open ai/gpt":           `the model's name "open ai/gpt" contains spaces; write`,
		"a/b\x00":               `contains spaces; write`,
		"Builtin":               `the built-in model is builtin, not "Builtin"; write builtin`,
		"builtin/x":             `the built-in model is builtin, not "builtin/x"; write builtin`,
		"openai/gpt-5":          `provider "openai" is not supported by this version; use builtin`,
		"openrouter/meta/llama": `provider "openrouter" is not supported by this version; use builtin`,
	} {
		spec, err := ParseSpec(text)
		if memoir.CodeOf(err) != memoir.CodeConfig || spec != (Spec{}) {
			t.Errorf("%q: got %v, %v", text, spec, err)
			continue
		}
		if got := err.Error() + "; " + memoir.HintOf(err); !strings.Contains(got, want) {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
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
