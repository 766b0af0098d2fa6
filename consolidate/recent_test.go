package consolidate_test

import (
	"strings"
	"testing"
)

func TestRecentWorkSaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		outcomes []string
		want     string   // in the session's line
		below    []string // of the lines under it, in order
	}{
		{"the work, not its handling", []string{"done — PR is up: https://example.com/pull/7", "Opened [PR #7](https://example.com/pull/7) with commit `ce2af23`.", "Changed the `github` backend to treat an empty `url_api` as absent."},
			"done: Changed the `github` backend to treat an empty `url_api` as absent. (https://example.com/pull/7)", nil},
		{"the rest, the weightiest first", []string{"done — Moved the retry loop from `a.go` into `retry.go`.", "The parser in `parse.go` accepts empty input now.", "Wrote the changelog entry for `0.4.0` by hand.", "The daemon in `daemon.go` now reads its level from a variable."},
			"done: Moved the retry loop", []string{"The daemon in", "The parser in", "Wrote the changelog"}},
		{"nothing better", []string{"done — All tests pass."}, "done: All tests pass.", nil},
		{"no state of the review", []string{"done — Moved the retry loop into `retry.go`.", "All checks are green and the feedback is addressed.", "Merged #7 and closed #8 today as they asked."}, "done: Moved", nil},
		{"what was left open, last and never in the session's line", []string{"done — PR is up: https://example.com/pull/7", "Not committed in the session: changes of `a.go`", "Changed the `github` backend to treat an empty `url_api` as absent."},
			"done: Changed the `github` backend", []string{"Not committed in the session: changes of `a.go`"}},
		{"commits after the work", []string{"done — Moved the retry loop into `retry.go`.", "Committed `ce2af23` “fix: retry”; `ce2af24` “test: retry”", "The parser in `parse.go` accepts empty input now."}, "done: Moved", []string{"The parser in", "Committed `ce2af23`"}},
		{"the same thing once", []string{"done — Moved the retry loop of the uploader into `retry.go`.", "Moved the retry loop of the uploader into `retry.go` now."}, "done: Moved", nil},
	} {
		var bullets []string
		for _, o := range test.outcomes {
			bullets = append(bullets, "Outcome: "+o)
		}
		lines := under(build(t, input(session(0, id(1), append(bullets, "Commands: `make test` passes")...))).MemoryMD, "## Recent work")
		if len(lines) != 1+len(test.below) || !strings.Contains(lines[0], test.want) {
			t.Errorf("%s: got %q, want %q and %q", test.name, lines, test.want, test.below)
			continue
		}
		for i, want := range test.below {
			if !strings.HasPrefix(lines[i+1], "  - "+want) {
				t.Errorf("%s: line %d is %q, want %q", test.name, i+1, lines[i+1], want)
			}
		}
	}
}
