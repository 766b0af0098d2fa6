package memoir_test

import (
	"testing"

	"memoir"
)

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

func TestALineOfARawMemorySaysWhatSignalAndCountsSay(t *testing.T) {
	t.Parallel()
	for want, st := range map[string]memoir.Statement{
		"test: `make test` (3 times)": {Kind: memoir.StatementCommand, Text: "test: `make test`", Signal: "passed", Times: 3},
		"test: `make test`":           {Kind: memoir.StatementCommand, Text: "test: `make test`", Signal: "passed", Times: 1},
		"`a.go` (1 edit)":             {Kind: memoir.StatementFile, Text: "`a.go`", Times: 1},
	} {
		if got := st.Line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The ids of statements are given to people, and stored in manifests: they must not change.
func TestAnIDDependsOnProjectKindAndWordsAlone(t *testing.T) {
	t.Parallel()
	id := memoir.StatementID("app-1", memoir.StatementPreference, "“Use  tabs”")
	if id != "c8bc2e8412" {
		t.Errorf("the id is %s", id)
	}
	for what, other := range map[string]string{
		"letter case and space": memoir.StatementID("app-1", memoir.StatementPreference, "“use tabs”"),
	} {
		if other != id {
			t.Errorf("%s changes the id", what)
		}
	}
	for what, other := range map[string]string{
		"project": memoir.StatementID("app-2", memoir.StatementPreference, "“use tabs”"),
		"kind":    memoir.StatementID("app-1", memoir.StatementFinding, "“use tabs”"),
		"text":    memoir.StatementID("app-1", memoir.StatementPreference, "“use tab”"),
	} {
		if other == id {
			t.Errorf("the %s does not change the id", what)
		}
	}
}

func TestASignatureLacksWhatDiffersFromTimeToTime(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"\x1b[31merror\x1b[0m: no library targets found in package `/home/a/x`", "error: no library targets found in package `/srv/b/y`"},
		{"panic at 0xc000123456 line 12", "panic at 0xc0ffee9876 line 7"},
		{"object 4770f45ad099 not found", "object 068fc85aaa01 not found"},
	} {
		if a, b := memoir.Signature(same[0]), memoir.Signature(same[1]); a != b || a == "" {
			t.Errorf("%q and %q", a, b)
		}
	}
	if memoir.Signature("unknown flag: --all") == memoir.Signature("unknown flag: --none") {
		t.Error("different failures have one signature")
	}
}
