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

// A model may cite a kept session behind words of a forgotten one.
func TestALineOfAForgottenSessionGoesWhoeverItCites(t *testing.T) {
	t.Parallel()
	gone := session(0, id(1), "Preferences: “Run the zinc check before tagging. Keep drafts out of the index.”", "Commands: check: `make zinc`", "Failures: `make zinc` failed: no ore left; fixed by `make ore`")
	kept := session(1, id(2), "Preferences: “Run make lint before tagging.”", "Findings: the index has no drafts", "Commands: check: `make tin`")
	gone.Statements[len(gone.Statements)-1].Error = "no ore left"
	in := input(gone, kept)
	in.Withdrawn = []string{gone.SessionKey}
	memory, summary := "# app: project memory\n\n## What is known\n\n", "# app: what earlier sessions taught\n\n## What to know\n\n"
	lines := map[string]bool{
		"Run make lint before tagging.": true, "the index has no drafts": true, "run make tin before a tag": true,
		"Keep drafts out of the index": false, "they keep drafts out of the index, mostly": false, "run make zinc before lint": false, "“Run the zinc check before tagging.”": false,
		"it says no ore left at times": false, "`make ore` mends it": false,
	}
	for line := range lines {
		memory, summary = memory+"- "+line+" [00001002 2026-07-02]\n", summary+"- "+line+"\n"
	}
	in.Current = &memoir.Consolidation{MemoryMD: memory, MemorySummary: summary, Skills: []memoir.Skill{{Name: "tag", Content: summary}}}
	f := consolidate.Forgotten{Extractions: []memoir.Extraction{gone}}
	out, _, err := f.Withdraw(in)
	all := out.MemoryMD + out.MemorySummary
	for line, stays := range lines {
		if strings.Contains(all, line) != stays {
			t.Errorf("%q: stays %v, %v:\n%s", line, !stays, err, all)
		}
	}
	if left := f.Traces(map[string][]byte{"a.md": []byte(out.MemoryMD), "b.md": []byte(out.MemorySummary)}, in); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if left := f.Traces(map[string][]byte{"a.md": []byte(memory), "b.md": []byte(summary)}, in); len(left) != 12 {
		t.Errorf("%d traces: %v", len(left), left)
	}
}

func TestAPathThatAnotherSessionHasAsWellIsNoTrace(t *testing.T) {
	t.Parallel()
	anchored := func(key, text string) memoir.Extraction {
		return memoir.Extraction{SessionKey: key, Statements: []memoir.Statement{{Kind: memoir.StatementClaim, Text: text,
			Signal: "concluded", By: memoir.ByAgent, Anchors: []memoir.Anchor{{Path: ".github/workflows/release.yml"}}}}}
	}
	gone := anchored("codex:gone", "the tap is published by `.github/workflows/release.yml`")
	left := anchored("codex:left", "the timeout is an hour")
	files := map[string][]byte{"statements.jsonl": []byte(
		`{"session":"codex:left","statements":[{"text":"the timeout is an hour","anchors":[{"path":".github/workflows/release.yml"}]}]}` + "\n")}
	traces := func(others ...memoir.Extraction) []consolidate.Trace {
		return consolidate.Forgotten{Extractions: []memoir.Extraction{gone}}.Traces(files,
			consolidate.Input{Extractions: others, Withdrawn: []string{gone.SessionKey}})
	}
	if got := traces(left); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := traces(); len(got) != 1 {
		t.Errorf("without the other session: %v", got)
	}
}

// A member's session may have come from a hub and from a repository, whose id is the longer one.
func TestASessionThatIsForgottenAtAHubMayStayInARepository(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("ab", 12)
	gone, kept := session(0, id(1), "Findings: the cache is cold"), session(1, id(2), "Findings: the cache is cold")
	gone.SessionKey, kept.SessionKey = memoir.ReceivedKey("ann", hash), memoir.ReceivedKey("ann", hash+"0123456789")
	in := input(gone, kept)
	in.Withdrawn = []string{gone.SessionKey}
	f := consolidate.Forgotten{Extractions: []memoir.Extraction{gone}}
	for text, want := range map[string]int{kept.SessionKey: 0, gone.SessionKey: 1, kept.SessionKey + " and " + gone.SessionKey: 1} {
		if left := f.Traces(map[string][]byte{"raw_memories.md": []byte("from " + text + "\n")}, in); len(left) != want {
			t.Errorf("%s: %v", text, left)
		}
	}
}
