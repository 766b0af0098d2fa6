package memoir_test

import (
	"slices"
	"strings"
	"testing"

	"memoir"
)

func TestASmallAmountIsNotNothing(t *testing.T) {
	t.Parallel()
	for amount, want := range map[float64]string{0: "$0.0000", 1234.5: "$1234.5000", 0.0002: "$0.0002", 0.0000123: "$0.00001"} {
		if got := memoir.Dollars(amount); got != want {
			t.Errorf("%v: %s, want %s", amount, got, want)
		}
	}
}

func TestTextsThatReadAlikeFoldAlike(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"acme corp", "ACME Corp", "acme\ncorp", "acme \t\r\n  corp", "acme\u00a0corp", "ac\u00adme cor\u200bp"},
		{"café", "cafe\u0301", "CAFÉ", "ｃａｆé"},
		{"file", "ﬁle"},
		{"a.*b[c", "A.*B[C"},
		{"ключ", "КЛЮЧ"},
	} {
		for _, text := range same {
			if got, want := memoir.Folded(text), memoir.Folded(same[0]); got != want {
				t.Errorf("%q folds to %q, not %q", text, got, want)
			}
			if once := memoir.Folded(text); memoir.Folded(once) != once {
				t.Errorf("%q folds twice", text)
			}
		}
	}
	if memoir.Folded("acmecorp") == memoir.Folded("acme corp") {
		t.Error("a blank is lost")
	}
}

func TestLinesThatHoldAText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, want string
		lines      []int
	}{
		{"one\ntwo\nthree\n", "two", []int{2}},
		{"one\ntwo\nthree", "o", []int{1, 2}},
		{"- of Acme\n  Corp alone\n- else\n", "acme corp", []int{1, 2}},
		{"Acme\n\nCorp\n", "acme corp", nil},
		{"a b\nc d\ne f\n", "b c d e", []int{1, 2, 3}},
		{"aa\naa\n", "a a", []int{1, 2}},
		{"x", "", nil},
		{"", "x", nil},
		{"\n\n  \nx y\n", "x y", []int{4}},
	} {
		if got := memoir.LinesHolding(tt.text, tt.want); !slices.Equal(got, tt.lines) {
			t.Errorf("%q stands on %v of %q, want %v", tt.want, got, tt.text, tt.lines)
		}
	}
}

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
