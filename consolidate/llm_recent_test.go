package consolidate_test

import (
	"strings"
	"testing"

	"memoir/model"
)

func TestAMemoryMayTellOfRecentWorkAlone(t *testing.T) {
	t.Parallel()
	memory := "## Recent work\n\n- 2026-07-01 “look around” — unknown [00001001 2026-07-01]\n"
	summary := "## What to know\n\n- 2026-07-01 “look around” — unknown [00001001 2026-07-01]\n"
	c, _, err := ask(t, input(first), &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(memory, summary))}})
	if err != nil || !strings.Contains(c.MemoryMD, memory) {
		t.Errorf("%v:\n%s", err, c.MemoryMD)
	}
}
