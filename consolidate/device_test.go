package consolidate_test

import (
	"testing"
)

func TestNoSkillIsNamedAsADevice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"aux", "con", "nul", "prn", "com1", "lpt9"} {
		ask := "Procedure: “" + name + "”: `make " + name + "` → `make proof` → `make ship`"
		c := build(t, input(session(0, id(1), ask), session(1, id(2), ask), session(2, id(3), ask)))
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
