package memoir_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestKeysOfTwoAgentsNeverCollide(t *testing.T) {
	t.Parallel()
	a := memoir.Session{Source: memoir.SourceCodex, ID: "01"}
	b := memoir.Session{Source: memoir.SourceClaude, ID: "01"}
	if a.Key() == b.Key() {
		t.Errorf("both have the key %q", a.Key())
	}
	if source, id := memoir.SplitKey("codex:a:b"); source != memoir.SourceCodex || id != "a:b" {
		t.Errorf("split into %q and %q", source, id)
	}
	if source, id := memoir.SplitKey("01"); source != "" || id != "01" {
		t.Errorf("split into %q and %q", source, id)
	}
}

func TestOnlyAPersonsOwnWordsAreByPerson(t *testing.T) {
	t.Parallel()
	for origin, want := range map[memoir.Origin]bool{
		memoir.OriginTyped: true, memoir.OriginQueued: true, memoir.OriginSlashCommand: true,
		memoir.OriginShell: true, memoir.OriginRejection: true, memoir.OriginAnswer: true,
		memoir.OriginInjected: false, memoir.OriginPlanHandover: false, memoir.OriginAgent: false,
		memoir.OriginCompactionSummary: false, memoir.OriginSubagentTask: false, memoir.OriginTool: false,
	} {
		if origin.ByPerson() != want {
			t.Errorf("%s: by a person is %v", origin, !want)
		}
	}
}

func TestTokensRoundUp(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2, 20000: 5000} {
		if got := memoir.Tokens(strings.Repeat("x", n)); got != want {
			t.Errorf("%d characters are %d tokens, want %d", n, got, want)
		}
	}
}

func TestAnExtractionOfWhiteSpaceIsEmpty(t *testing.T) {
	t.Parallel()
	if !(memoir.Extraction{RolloutSummary: "\t"}).Empty() {
		t.Error("white space counts as memory")
	}
	if (memoir.Extraction{RolloutSummary: "x"}).Empty() {
		t.Error("a summary alone counts as nothing")
	}
}

func TestShortTitleCutsAtAWord(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"  make   a pr ":            "make a pr",
		strings.Repeat("word ", 30): strings.TrimSpace(strings.Repeat("word ", 15)) + "…",
		strings.Repeat("日", 100):    strings.Repeat("日", 79) + "…",
		strings.Repeat("x", 80):     strings.Repeat("x", 80),
		"":                          "",
	}
	for in, want := range tests {
		if got := memoir.ShortTitle(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
