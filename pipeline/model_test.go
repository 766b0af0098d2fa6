package pipeline_test

import (
	"testing"

	"memoir"
)

func TestAModelThatCannotBeUsedIsNotReplacedByAnother(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"modelRoles: {default: openai/gpt-5}":                                      "modelRoles.default: no phase can use openai/gpt-5 in this version",
		"modelRoles: {smol: x/y}\nproviders: {x: {baseURL: 'http://127.0.0.1:1'}}": "modelRoles.smol: no phase can use x/y in this version",
		"modelRoles: {smol: z/y}\nproviders: {x: {baseURL: 'http://127.0.0.1:1'}}": `modelRoles.smol: provider "z" is neither known nor configured`,
	} {
		o := options(t.TempDir(), t.TempDir())
		o.Settings = load(t, yaml)
		_, err := tryRun(t.Context(), t, o)
		if memoir.CodeOf(err) != memoir.CodeConfig || err.Error() != want || memoir.HintOf(err) == "" {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
