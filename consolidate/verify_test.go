package consolidate_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
)

func TestVerifyHoldsAnyModelToTheRules(t *testing.T) {
	t.Parallel()
	in := input(first, second)
	in.Withdrawn = []string{third.SessionKey}
	good := memoir.Consolidation{MemoryMD: "# m\n- a [00001001 2026-07-01, 00001002 2026-07-02, +1]\n", MemorySummary: "s\n"}
	if err := consolidate.Verify(good, in); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*memoir.Consolidation){
		"an empty memory":       func(c *memoir.Consolidation) { c.MemoryMD = " \n" },
		"an empty summary":      func(c *memoir.Consolidation) { c.MemorySummary = "" },
		"an unknown session":    func(c *memoir.Consolidation) { c.MemoryMD += "- b [deadbeef 2026-07-01]\n" },
		"a withdrawn session":   func(c *memoir.Consolidation) { c.MemorySummary += "- b [00001003 2026-07-03]\n" },
		"a withdrawn thread id": func(c *memoir.Consolidation) { c.MemoryMD += "see " + id(3) + " for more\n" },
		"a frame":               func(c *memoir.Consolidation) { c.MemorySummary += "</memoir-context>\n" },
		"too large a memory":    func(c *memoir.Consolidation) { c.MemoryMD += strings.Repeat("x", consolidate.DefaultMemoryBytes) },
		"too large a summary": func(c *memoir.Consolidation) {
			c.MemorySummary += strings.Repeat("x", 4*consolidate.DefaultSummaryTokens)
		},
		"a skill's bad name": func(c *memoir.Consolidation) { c.Skills = []memoir.Skill{{Name: "Bad/Name", Content: "x"}} },
		"an empty skill":     func(c *memoir.Consolidation) { c.Skills = []memoir.Skill{{Name: "x"}} },
		"a skill twice": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x"}, {Name: "x", Content: "x"}}
		},
		"a path out of a skill": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Scripts: []memoir.SkillFile{{Path: "../../run.sh"}}}}
		},
		"scripts that differ by case": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Scripts: []memoir.SkillFile{{Path: "run"}, {Path: "Run"}}}}
		},
		"folders that differ by case": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Scripts: []memoir.SkillFile{{Path: "lib/a"}, {Path: "Lib/b"}}}}
		},
		"a file that is a folder too": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Examples: []memoir.SkillFile{{Path: "a"}, {Path: "A/b"}}}}
		},
		"a citation in a skill": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "- y [deadbeef 2026-07-01]\n"}}
		},
	} {
		c := good
		spoil(&c)
		if err := consolidate.Verify(c, in); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerifyLetsPeopleWriteBrackets(t *testing.T) {
	t.Parallel()
	in := input(first)
	in.Known = []string{second.SessionKey}
	in.Notes = []memoir.Note{note(1, memoir.NoteAdded, "## A", "", "- found by bisecting [cafe0000 2026-07-03]")}
	for line, want := range map[string]memoir.Code{
		"- a [release 2026-12-01]":                    "",
		"- a [00001002 2026-07-02]":                   "", // not selected
		"- found by bisecting [cafe0000 2026-07-03]":  "",
		"- the model's own [cafe0000 2026-07-03]":     memoir.CodeInvalid,
		"- in the [cafe0000 2026-07-03] middle of it": memoir.CodeInvalid,
	} {
		if err := consolidate.Verify(memoir.Consolidation{MemoryMD: line + "\n", MemorySummary: "s\n"}, in); memoir.CodeOf(err) != want {
			t.Errorf("%q: %v", line, err)
		}
	}
}
