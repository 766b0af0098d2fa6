package memoir_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

func TestStatementsSurviveTheirMarkdown(t *testing.T) {
	t.Parallel()
	want := []memoir.Statement{
		{Kind: memoir.StatementTask, Text: "make the uploader retry", Items: []int{1}},
		{Kind: memoir.StatementPreference, Text: `"never edit gen/ by hand"`, Items: []int{4, 9}},
		{Kind: memoir.StatementCommand, Text: "`go test ./...` passes (ran 3 times)"},
	}
	got := memoir.ParseStatements(memoir.FormatStatements(want))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements changed on the way (-want +got):\n%s", diff)
	}
}

func TestFormatStatementsOrdersSectionsAndKeepsOneLineAStatement(t *testing.T) {
	t.Parallel()
	got := memoir.FormatStatements([]memoir.Statement{
		{Kind: memoir.StatementCommand, Text: "`make`", Items: []int{7}},
		{Kind: memoir.StatementTask, Text: "line one\n## Commands\n- line two", Items: []int{1, 2}},
	})
	want := "## Task\n- line one ## Commands - line two [1, 2]\n\n## Commands\n- `make` [7]\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseStatementsToleratesAModel(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		markdown string
		want     []memoir.Statement
	}{
		"prose around bullets":       {"Here you are:\n\n## tasks\n- x\n## TASK\ntext\n- y [3]\n", []memoir.Statement{{Kind: memoir.StatementTask, Text: "y", Items: []int{3}}}},
		"a bracket that is no cite":  {"## Task\n- see [docs]\n", []memoir.Statement{{Kind: memoir.StatementTask, Text: "see [docs]"}}},
		"a cite of item 0":           {"## Task\n- a [0]\n", []memoir.Statement{{Kind: memoir.StatementTask, Text: "a [0]"}}},
		"CRLF":                       {"## Task\r\n- a [1]\r\n", []memoir.Statement{{Kind: memoir.StatementTask, Text: "a", Items: []int{1}}}},
		"bullets before any section": {"- a [1]\n", nil},
		"only a citation":            {"## Task\n- [1]\n", nil},
		"nothing":                    {"", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, memoir.ParseStatements(tt.markdown)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseStatements(f *testing.F) {
	f.Add("## Task\n- a [1, 2]\n")
	f.Add("## Procedure\n- [")
	f.Fuzz(func(t *testing.T, markdown string) {
		once := memoir.ParseStatements(markdown)
		again := memoir.ParseStatements(memoir.FormatStatements(once))
		for i, s := range again {
			for _, n := range s.Items {
				if n < 1 {
					t.Errorf("statement %d cites item %d", i, n)
				}
			}
		}
		if len(again) > len(once) {
			t.Errorf("%d statements became %d", len(once), len(again))
		}
	})
}
