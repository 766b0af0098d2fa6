package memoir_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestACharacterKeepsAsManyMarksAsScriptsPileUp(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain \u00e9 e\u0301":                        "plain \u00e9 e\u0301",
		"ש\u05c1\u05bc\u05b8\u0591\u05bd":             "ש\u05c1\u05bc\u05b8\u0591\u05bd",
		"z" + strings.Repeat("\u0336", 90) + "a":      "z" + strings.Repeat("\u0336", memoir.MaxMarks) + "a",
		strings.Repeat("a\u0301\u0302", 9):            strings.Repeat("a\u0301\u0302", 9),
		"a" + strings.Repeat("\u0301\u20dd", 9) + "b": "a\u0301\u20dd\u0301\u20dd\u0301b",
	} {
		if got := memoir.WithoutFloods(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
