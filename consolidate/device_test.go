package consolidate_test

import (
	"testing"

	"memoir/consolidate"
)

func TestNoSkillIsNamedAsADevice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"aux", "con", "nul", "prn", "com1", "lpt9"} {
		ask := "Procedure: “" + name + "”: `make " + name + "` → `make proof` → `make ship`"
		c := build(t, input(session(0, id(1), "Task: "+name, ask), session(1, id(2), "Task: "+name, ask)))
		if err := consolidate.Verify(c, input(session(0, id(1), ask), session(1, id(2), ask))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(c.Skills) == 0 {
			t.Errorf("%s: no skill", name)
		}
		for _, s := range c.Skills {
			if s.Name == name {
				t.Errorf("a skill is named %s", name)
			}
		}
	}
}
