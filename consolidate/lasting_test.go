package consolidate_test

import (
	"strings"
	"testing"
)

func TestWhatASessionSaidOfItsOwnStaysInItsRecord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"`Open` must set the timeout first, because later pragmas wait for locks":                                             true,
		"Avoid a helper that swallows errors, because it hides a full disk":                                                   true,
		"Keep parse errors as errors, but warn when rendering fails":                                                          true,
		"Setting `cf` inside the generic loader changes how ordinary tasks run":                                               true,
		"Restore the old behavior: use the scoped config only while rendering":                                                false,
		"Threading an optional context only through the loaders, not into stored state":                                       false,
		"Going back in and looking for a smaller fix that uses what is there":                                                 false,
		"No job has failed, so there are still no logs to read":                                                               false,
		"`a.go` is a package (in passing)":                                                                                    false,
		"The parser reads the old shape, so `versions` is missing (before this session; since changed: Normalized the shape)": true,
		"The parser lives in `a.go` (before this session; since changed: Moved it)":                                           false,
		"The parser fails on arrays (before this session; since changed: Validated with `go test`)":                           false,
		"the user: “the broker must stay private, customers see its log”":                                                     true,
		"the user: “why does it drop the rows?” — the agent agreed: “The importer owns them.”":                                true,
		"the user: “i reviewed what we have, it's good.”":                                                                     false,
		"the user: “are you serious? what about the other one??”":                                                             false,
		"the user: “der Broker bleibt privat, Kunden sehen das Log”":                                                          true,
		"the user: “ブローカーは社内だけです”":                                                                                            true,
		"Nothing reads `state.json` before the lock is taken":                                                                 true,
		"I'll leave the parser alone unless the grammar changes":                                                              false,
		"Leave generated files alone unless the usage text changes, since this is behavioral":                                 false,
		"Keep it scoped to the two rules that fail":                                                                           false,
		"The new helper needs to expose the last error to its caller":                                                         false,
		"The store needs an open transaction, since it writes two tables":                                                     true,
		"The current code reads the old shape and fails on arrays":                                                            false,
		"`lint` is failing at the advisories check":                                                                           false,
		"Two of its tests still need fixing":                                                                                  false,
		"The call site now passes the context separately":                                                                     false,
		"`open` now passes the context, because the loader runs before it":                                                    true,
		"Why “feat: add a writer”: the images still need the old one":                                                         true,
		"The other two occurrences of this pattern are harmless, as they are set again":                                       false,
		"`Open` may not be called twice for exactly this reason":                                                              true,
		"Fetching uses the command line for exactly this reason":                                                              false,
		"the user: “can we add a test for it? it should not be skipped”":                                                      false,
		"the user: “we should rename the helper, it is not clear”":                                                            false,
		"the user: “could we drop the default, and list the others” (said on refusing an edit of `a.go`)":                     true,
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
