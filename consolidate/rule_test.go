package consolidate_test

import (
	"slices"
	"strings"
	"testing"
)

// briefedAs are the lines of a section of the briefing of one session, without citations.
func briefedAs(t *testing.T, heading string, lines ...string) []string {
	t.Helper()
	var out []string
	for _, l := range under(build(t, input(session(0, id(1), lines...))).MemorySummary, heading) {
		l = strings.TrimPrefix(l, "- ")
		out = append(out, strings.TrimSpace(l[:strings.LastIndex(l, "[")]))
	}
	return out
}

func TestAnAnswerStandsWithItsQuestion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ said, want string }{
		{"“never push to main”", "“never push to main”"},
		{"“and tag after the merge, never before”", "“and tag after the merge, never before”"},
		{"“yes need to be fully clean” — said after the agent: “There is a warning. Want me to clean that up too?”", "“yes need to be fully clean” (to the agent's “There is a warning. Want me to clean that up too?”)"},
		{"“no, never” — said after the agent: “" + strings.Repeat("It is long. ", 20) + "Shall I push?”", "“no, never” (to the agent's “Shall I push?”)"},
		{"“no, never” — said after the agent: “" + strings.Repeat("It is long. ", 20) + "I push.”", ""},
		{"“always commit first” — said after the agent: “" + strings.Repeat("It is long. ", 20) + "I push.”", "“always commit first”"},
		{"“no, the block stays”", ""},
		{"“needs to be set to 1”", ""},
		{"“はい、お願いします”", ""},
		{"“the accent stays” (about: `#8abeb7`)", ""},
		{"“no random ids, use the host's name”", "“no random ids, use the host's name”"},
		{"“nothing is to be pushed by you”", "“nothing is to be pushed by you”"},
	} {
		want := []string{test.want}
		if test.want == "" {
			want = nil
		}
		if got := briefedAs(t, "## What the user wants", "Preferences: "+test.said); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", test.said, got, want)
		}
	}
}

func TestAFailureIsToldWithWhatHelps(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the loader of the index says so and more, ", 5)
	for _, test := range []struct{ failed, want string }{
		{"`make test` failed: error: no fixture — worked with `FIXTURES=1`", "`make test` failed: error: no fixture → worked with `FIXTURES=1`"},
		{"`make test` failed: error: " + long + " — worked with `FIXTURES=1`", "`make test` failed: error: the loader of the index says so and more, the loader of the index says so and… → worked with `FIXTURES=1`"},
		{"`make test` failed: error: no fixture — " + long + long + " — worked with `FIXTURES=1`", "`make test` failed: error: no fixture → worked with `FIXTURES=1`"},
		{"`make test` failed: error: no fixture — worked with `" + long + long + "`", ""},
		{"`make test` failed: error: no fixture", ""},
		{"`make lint` failed: a.go:1:2: missing cases (exhaustive) — The linter wants every case — passed after editing `a.go`", "`make lint` failed: a.go:1:2: missing cases (exhaustive) — The linter wants every case"},
		{"`make lint` failed: a.go:1:2: bad call (gosec) — I'll add a comment — passed after editing `a.go`", ""},
	} {
		want := []string{test.want}
		if test.want == "" {
			want = nil
		}
		if got := briefedAs(t, "## Failures to avoid", "Failures: "+test.failed); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", test.failed, got, want)
		}
	}
}

func TestALongFindingIsToldInWholeSentences(t *testing.T) {
	t.Parallel()
	first := "`pkg/store/open.go` must set the timeout first, because later pragmas wait for locks."
	got := briefedAs(t, "## What to know", "Decisions: "+first+" "+strings.Repeat("It was so from the beginning on. ", 10), "Decisions: "+strings.Repeat("`pkg/b.go` holds the lock because two writers race and ", 6)+"wait")
	if len(got) != 1 || !strings.HasPrefix(got[0], first) || !strings.HasSuffix(got[0], ".") {
		t.Errorf("got %q", got)
	}
}
