package extract_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
	"memoir/memoirtest"
)

func TestCheckHoldsAnExtractionToItsRules(t *testing.T) {
	t.Parallel()
	items := []memoir.Item{{N: 1}, {N: 3}}
	good := memoir.Extraction{Statements: memoirtest.Statements("## Task\n- x [1, 3]\n"), RolloutSummary: "x", RolloutSlug: "fix-x"}
	tests := map[string]struct {
		change func(*memoir.Extraction)
		want   string // part of the error; empty: none
	}{
		"good":                  {func(*memoir.Extraction) {}, ""},
		"nothing worth keeping": {func(e *memoir.Extraction) { *e = memoir.Extraction{} }, ""},
		"no summary":            {func(e *memoir.Extraction) { e.RolloutSummary = " " }, "together"},
		"no raw memory":         {func(e *memoir.Extraction) { e.Statements = nil }, "together"},
		"a missing item":        {func(e *memoir.Extraction) { e.Statements = memoirtest.Statements("## Task\n- x [2]\n") }, "item 2"},
		"as large as can be":    {func(e *memoir.Extraction) { e.Statements = sized(extract.MaxRawMemory) }, ""},
		"too large":             {func(e *memoir.Extraction) { e.Statements = sized(extract.MaxRawMemory + 1) }, "bytes"},
		"a slug with a path":    {func(e *memoir.Extraction) { e.RolloutSlug = "../x" }, "slug"},
		"a long slug":           {func(e *memoir.Extraction) { e.RolloutSlug = strings.Repeat("a", 61) }, "slug"},
		"no slug":               {func(e *memoir.Extraction) { e.RolloutSlug = "" }, "slug"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := good
			tt.change(&e)
			err := extract.Check(e, items)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && memoir.CodeOf(err) != memoir.CodeInvalid {
				t.Errorf("code %s", memoir.CodeOf(err))
			}
		})
	}
}

// sized returns a statement whose raw memory has a size in bytes.
func sized(size int) []memoir.Statement {
	return memoirtest.Statements("## Task\n- " + strings.Repeat("x", size-len("## Task\n- \n")) + "\n")
}
