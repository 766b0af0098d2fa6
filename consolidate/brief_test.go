package consolidate_test

import (
	"fmt"
	"strings"
	"testing"

	"memoir"
)

// history is many sessions that each teach something else.
func history(n int) []memoir.Extraction {
	var out []memoir.Extraction
	for i := range n {
		w, next := words[i%len(words)], words[(i*7+3)%len(words)]
		out = append(out, session(i, id(i+1),
			"Task: work on "+w, "Outcome: done — Moved `"+w+"` into `"+next+".go` and wrote its tests.",
			fmt.Sprintf("Preferences: “never %s the %s without %s%d”", w, next, w, i),
			"Commands: `make "+w+"` works", fmt.Sprintf("Failures: `make %s` failed: error: no %s%d — worked with `%s=1`", w, next, i, strings.ToUpper(w)),
			fmt.Sprintf("Decisions: `pkg/%s/%s.go` must %s before %s because of number %d", w, next, w, next, i),
			"Files: `pkg/"+w+"/"+next+".go` — changed 3 times"))
	}
	return out
}

func TestTheSummaryIsABriefingNotACopy(t *testing.T) {
	t.Parallel()
	c := build(t, input(history(30)...))
	lines := 0
	for line := range strings.Lines(c.MemorySummary) {
		if strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "- MEMORY.md ›") {
			lines++
		}
		if len(line) > 320 {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
	if lines < 10 || lines > 30 {
		t.Errorf("%d lines", lines)
	}
	if got := memoir.Tokens(c.MemorySummary); got > 2000 {
		t.Errorf("%d tokens, where 5000 are allowed", got)
	}
	at := -1
	for _, heading := range []string{"## What the user wants", "## Build, test, run", "## Failures to avoid", "## What to know", "## Where to look"} {
		i := strings.Index(c.MemorySummary, heading)
		if i <= at {
			t.Errorf("%s is missing or out of order:\n%s", heading, c.MemorySummary)
		}
		at = i
	}
}

func TestTheBriefingNamesFailuresThatComeBack(t *testing.T) {
	t.Parallel()
	c := build(t, input(session(0, id(1), "Failures: `make test` failed: error: no fixture — passed after editing `a.go`",
		"Failures: `make gen` failed: error: no protoc — passed after `make tools`", "Failures: `make run` failed: error: busy — passed when run again")))
	got := under(c.MemorySummary, "## Failures to avoid")
	if len(got) != 1 || !strings.Contains(got[0], "make tools") {
		t.Errorf("got %q", got)
	}
}
