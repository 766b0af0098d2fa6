package consolidate_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
)

// What the project's own files say is not said again, by either model: but for what a person wants, notes and failures.
func TestNoModelRepeatsWhatTheProjectSaysItself(t *testing.T) {
	t.Parallel()
	guide := extract.Own{Files: map[string]string{"AGENTS.md": "- The hatch opens inwards.\n- Run `make sail`, then `make hoist`.\n- Sails are folded by two.\n" +
		"- The mast bends in a storm.\n- The hull is not painted twice.\n"}}
	one := session(0, id(1), "Findings: The hatch opens inwards.", "Findings: The keel is made of lead.",
		"Preferences: Sails are folded by two.", "Failures: The mast bends in a storm.", "Commands: before a commit: `make sail` && `make hoist`")
	noted := session(1, id(2), "Findings: The hull is not painted twice.")
	noted.SessionKey = "memoir:note-4"
	in := input(one, noted)
	in.Own = guide
	for i, st := range one.Statements {
		one.Statements[i].Stands = guide.In(st)
	}
	const cite = " [00001001 2026-07-01]\n"
	memory := "# app: project memory\n\n## User preferences\n\n- Sails are folded by two." + cite +
		"\n## What is known\n\n- The hatch opens inwards." + cite + "- The keel is made of lead." + cite +
		"- The hull is not painted twice. [note-4 2026-07-02]\n\n## Failures and fixes\n\n- The mast bends in a storm." + cite
	asked, err := ask(t, in, &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(memory))}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]memoir.Consolidation{"built-in": build(t, in), "language model": asked} {
		for _, line := range []string{"keel is", "Sails are", "mast bends", "hull is"} {
			if !strings.Contains(c.MemoryMD, line) {
				t.Errorf("%s: %q is not in\n%s", name, line, c.MemoryMD)
			}
		}
		if strings.Contains(c.MemoryMD, "hatch") {
			t.Errorf("%s: repeated in\n%s", name, c.MemoryMD)
		}
		lines := consolidate.WithOrigins(c, in).Lines
		for line, kept := range map[string]bool{"The mast bends in a storm.": true, "The hull is not painted twice.": true,
			"The keel is made of lead.": false} {
			if got, known := lines[memoir.LineKey(line)]; !known || got.Kept != kept {
				t.Errorf("%s: the origin of %q is %+v", name, line, got)
			}
		}
	}
}
