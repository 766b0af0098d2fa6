package consolidate_test

import (
	"testing"

	"memoir/consolidate"
	"memoir/model"
)

// Whatever a model answers, it is refused or becomes a memory that keeps the rules.
func FuzzAnswer(f *testing.F) {
	f.Add("# m\n\n## What is known\n\n- a [00001001 2026-07-01]\n  - b\n", "- a", "release", "---\nname: x\n---\n# R\n```\nx\n")
	f.Add("- [00001001", "##\n- x [00001002 2026-07-02, +3]", "a", "")
	f.Add("## Sessions\n\n### \n\n- a\n\n\n  c [00001003 2026-07-03]\n```\n# no\n", "\t- \n", "make-pr", "[00001002]")
	f.Fuzz(func(t *testing.T, memory, summary, name, content string) {
		in := input(first, second, third)
		current := build(t, input(first, second))
		in.Current, in.Changed = &current, map[string]bool{third.SessionKey: true}
		in.MaxMemoryBytes, in.SummaryTokens = 4000, 600
		m := &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(current.MemoryMD+memory, current.MemorySummary+summary, skill(name, content)))}}
		c, _, err := consolidate.NewLLM(consolidate.LLM{Model: m}).Consolidate(t.Context(), in)
		if err == nil {
			err = consolidate.Verify(c, in)
			if err != nil {
				t.Error(err)
			}
		}
	})
}
