package consolidate_test

import (
	"strings"
	"testing"
)

func TestWhatASessionSaidOfItsOwnStaysInItsRecord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"`Open` must set the timeout first, because later pragmas wait for locks":                                       true,
		"Avoid a helper that swallows errors, because it hides a full disk":                                             true,
		"Keep parse errors as errors, but warn when rendering fails":                                                    true,
		"Setting `cf` inside the generic loader changes how ordinary tasks run":                                         true,
		"Restore the old behavior: use the scoped config only while rendering":                                          false,
		"Threading an optional context only through the loaders, not into stored state":                                 false,
		"Going back in and looking for a smaller fix that uses what is there":                                           false,
		"No job has failed, so there are still no logs to read":                                                         false,
		"`a.go` is a package (in passing)":                                                                              false,
		"The parser reads the old shape, so `versions` is missing (before this session; since changed: Normalized the shape)": true,
		"The parser lives in `a.go` (before this session; since changed: Moved it)":                                           false,
		"The parser fails on arrays (before this session; since changed: Validated with `go test`)":                           false,
		"the user: “the broker must stay private, customers see its log”":                                               true,
		"the user: “why does it drop the rows?” — the agent agreed: “The importer owns them.”":                          true,
		"the user: “i reviewed what we have, it's good.”":                                                               false,
		"the user: “are you serious? what about the other one??”":                                                       false,
		"the user: “der Broker bleibt privat, Kunden sehen das Log”":                                                    true,
		"the user: “ブローカーは社内だけです”":                                                                                      true,
		"Nothing reads `state.json` before the lock is taken":                                                           true,
		"convention: Stage and commit with the required conventional commit format":                                     true,
	} {
		c := build(t, input(session(0, id(1), "Decisions: "+text, "Preferences: “use tabs”")))
		plain := strings.ReplaceAll(text, " (in passing)", "")
		if got := strings.Contains(c.MemoryMD, plain[:min(len(plain), 30)]); got != want {
			t.Errorf("%q: stands in MEMORY.md: %v, want %v", text, got, want)
		}
	}
}

func TestASessionOfPassingRemarksAddsNothingToWhatIsKnown(t *testing.T) {
	t.Parallel()
	c := build(t, input(session(0, id(1), "Decisions: `a.go` is a package (in passing)", "Task: look around")))
	if lines := under(c.MemoryMD, "## What is known"); len(lines) > 0 {
		t.Errorf("got %q", lines)
	}
}
