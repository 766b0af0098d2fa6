package memoir_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestPathsOfARoot(t *testing.T) {
	t.Parallel()
	legal := []string{
		"MEMORY.md", "rollout_summaries/2026-07-01-fix-019f1fd6.md", "skills/a/scripts/run.sh",
		"a..b", "x-y_z.0", strings.Repeat("a", 128), "CON1", "com", "comma.md",
		"my notes.md", "Übersicht (copy).md", "日本.md", "skills/My Skill/SKILL.md", "%2e%2e/x",
	}
	for _, path := range legal {
		if err := memoir.CheckPath(path); err != nil {
			t.Errorf("%q is refused: %v", path, err)
		}
	}
	illegal := []string{
		"", "/etc/passwd", "../x", "a/../b", "a/./b", ".", "..", "a//b", "a/", ".git/config", "a/.hidden",
		`a\b`, `C:\x`, "C:/x", "a:b", "a\x00b", "a\nb", "a\x1bb", "a\u202egpj.md", "a\u200bb", "a\xffb", "a?", "a|b",
		"-rf", "a.", "a./b", " a", "a ", "con", "CON.md", "aux.txt", "skills/nul/SKILL.md", "COM1", "lpt9.md",
		"manifest.json", "Manifest.JSON", "x~", "#x#", ".DS_Store",
		strings.Repeat("a", 129), strings.Repeat("a/", 8) + "a", strings.Repeat("abcdefgh/", 40) + "a",
	}
	for _, path := range illegal {
		if err := memoir.CheckPath(path); memoir.CodeOf(err) != memoir.CodeInvalid || memoir.HintOf(err) == "" {
			t.Errorf("%q gives %v, want an invalid path and a hint", path, err)
		}
	}
}

func TestPathsThatAreOneOnSomeSystemAreRefused(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]string{
		{"MEMORY.md", "memory.md"}, {"memory.md"}, {"Memory_Summary.MD"}, {"RAW_memories.md"}, {"MEMORY.md/x"},
		{"Skills/deploy/SKILL.md"}, {"skills"}, {"manifest.JSON/x"}, {"Notes/a.md", "notes/b.md"}, {"a/x", "a/X"},
		{"a", "a/b"}, {"a/b", "A"},
	} {
		if err := memoir.CheckPaths(paths); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%v: %v", paths, err)
		}
	}
	if err := memoir.CheckPaths([]string{"MEMORY.md", "skills/a/SKILL.md", "skills/a/scripts/x", "b/x", "b/y"}); err != nil {
		t.Error(err)
	}
}

func TestNoSkillIsNamedAsADevice(t *testing.T) {
	t.Parallel()
	for name, legal := range map[string]bool{
		"deploy": true, "fix-2-things": true, strings.Repeat("a", 64): true,
		"": false, "Deploy": false, "a--b": false, "-a": false, "a-": false, "a b": false, "con": false, "lpt1": false,
		strings.Repeat("a", 65): false, "../x": false,
	} {
		if memoir.LegalSkill(name) != legal {
			t.Errorf("%q is legal: %v", name, !legal)
		}
	}
}
