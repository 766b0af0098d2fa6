package consolidate_test

import (
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/model"
)

// The built-in model writes the memory from the extractions alone: what a language model
// added is gone then, and can be told.
func TestWhatALanguageModelAddedIsToldWhenTheBuiltInModelTakesOver(t *testing.T) {
	t.Parallel()
	in := input(first, second, third)
	own := build(t, in)
	line := "- the scheduler prefers whole batches over fair shares [" + third.SessionKey[len("codex:"):][:8] + " 2026-07-03]"
	memory := strings.Replace(own.MemoryMD, "## What is known\n\n", "## What is known\n\n"+line+"\n", 1)
	m := &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(memory, own.MemorySummary, skill("tidy-the-attic", "# Tidy\n\n1. `make tidy`\n")))}}
	written, _, err := ask(t, in, m)
	if err != nil {
		t.Fatal(err)
	}
	in.Current = &written
	again := build(t, in)
	if again.MemoryMD != own.MemoryMD {
		t.Error("the built-in model depends on what was published before")
	}
	if lines, skills := consolidate.LeftOut(written, again); lines != 1 || !slices.Equal(skills, []string{"tidy-the-attic"}) {
		t.Errorf("%d lines, skills %q; want 1 and the one skill", lines, skills)
	}
	if lines, skills := consolidate.LeftOut(own, again); lines != 0 || skills != nil {
		t.Errorf("nothing changed: %d lines, %q", lines, skills)
	}
	if lines, skills := consolidate.LeftOut(memoir.Consolidation{}, again); lines != 0 || skills != nil {
		t.Errorf("of nothing: %d lines, %q", lines, skills)
	}
}
