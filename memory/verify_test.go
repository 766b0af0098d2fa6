package memory_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
)

// What a consolidation may hold by its own check has a place in a root: else a model, or
// words in a session, could name a skill so that nothing is published any more.
func TestWhatPassesForASkillHasAPlace(t *testing.T) {
	t.Parallel()
	in := consolidate.Input{Extractions: []memoir.Extraction{{SessionKey: "codex:00001001-1", RawMemory: "## Task\n- x [1]\n"}}}
	parts := []string{
		"a", "A", "a.sh", "a..b", "a-b_c.0", "con", "CON.sh", "aux", "nul.txt", "prn", "com1", "LPT9.x", "conin$", "clock$", "..", ".", ".a", "-a", "a.", "a ", " a", "a\x00", "a\n", `a\b`, "C:", "/a", "~", "é", "ａ", "а",
		"\u202ea", "a/b", "a//b", "a/../b", "a/b/c/d/e", "a/b/c/d/e/f", "a/b/c/d/e/f/g/h/i", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 129), strings.Repeat("ab/", 4) + strings.Repeat("c", 128), "%2e%2e", "manifest.json",
	}
	held := 0
	for _, name := range append([]string{"release"}, parts...) {
		for _, path := range parts {
			c := memoir.Consolidation{MemoryMD: "x\n", MemorySummary: "x\n", Skills: []memoir.Skill{{Name: name, Content: "x\n", Scripts: []memoir.SkillFile{{Path: path, Content: "x\n"}}}}}
			if consolidate.Verify(c, in) != nil {
				continue
			}
			held++
			files, err := memory.Layout(c, nil)
			if err != nil {
				t.Errorf("skill %q with %q: %v", name, path, err)
			}
			for at := range files {
				if strings.Contains(at, "..") && !strings.Contains(at, "a..b") || strings.HasPrefix(at, "/") {
					t.Errorf("%q leads out of the root", at)
				}
			}
		}
	}
	if held == 0 {
		t.Error("no skill at all is legal")
	}
}
