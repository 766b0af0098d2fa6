package consolidate_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
)

func TestWhatOnlyAForgottenSessionSaidGoesWhateverItsLineCites(t *testing.T) {
	t.Parallel()
	in := input(first, second, third)
	in.Withdrawn = []string{third.SessionKey}
	c := memoir.Consolidation{MemoryMD: "# app: project memory\n\n## What is known\n\n" +
		"- they asked to “use npm instead of yarn” [00001002 2026-07-02]\n- lint with `FIXTURES=1` set [00001001 2026-07-01]\n" +
		"- stay with “use yarn instead of npm” [00001002 2026-07-02]\n- run `go test ./...` [00001001 2026-07-01]\n",
		MemorySummary: "## What is known\n\n- lint with `FIXTURES=1` set\n"}
	in.Current = &c
	in.HandEdits = []memoir.HandEdit{{Action: memoir.EditAdded, File: memoir.MemoryFile, Text: "- mine: `FIXTURES=1`"}}
	f := consolidate.Forgotten{Extractions: []memoir.Extraction{third}}
	out, _, err := f.Withdraw(in)
	if err != nil || strings.Contains(out.MemoryMD, "npm instead of yarn") || strings.Count(out.MemoryMD, "FIXTURES") != 1 ||
		!strings.Contains(out.MemoryMD, "- mine: `FIXTURES=1`\n") || !strings.Contains(out.MemoryMD, "yarn instead of npm") ||
		!strings.Contains(out.MemoryMD, "go test") || strings.Contains(out.MemorySummary, "lint with") {
		t.Errorf("%v:\n%s\n%s", err, out.MemoryMD, out.MemorySummary)
	}
	if left := f.Traces(map[string][]byte{"old.md": []byte(c.MemoryMD)}, in); len(left) != 2 {
		t.Errorf("an archive has the traces %v", left)
	}
}
