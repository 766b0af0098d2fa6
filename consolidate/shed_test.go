package consolidate_test

import (
	"strings"
	"testing"
)

func TestWhatIsShedTakesItsSessionsLineAlong(t *testing.T) {
	t.Parallel()
	in := input(history(30)...)
	full := build(t, in).MemoryMD
	for _, limit := range []int{len(full) - 1, len(full) * 2 / 3, len(full) / 3, 1500} {
		in.MaxMemoryBytes = limit
		got := build(t, in).MemoryMD
		if len(got) > limit {
			t.Errorf("%d bytes where %d are allowed", len(got), limit)
		}
		_, sessions, _ := strings.Cut(got, "\n## Sessions\n")
		for line := range strings.Lines(sessions) {
			short, _, ok := strings.Cut(strings.TrimPrefix(line, "- "), " — ")
			if ok && strings.HasPrefix(line, "- ") && strings.Count(got, short) < 3 { // its own line names it twice: id and file
				t.Errorf("limit %d: nothing cites session %s any more, yet it is listed", limit, short)
			}
		}
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "- ") && !strings.Contains(full, line) {
				t.Errorf("limit %d: a line was cut: %q", limit, line)
			}
		}
	}
}

func TestPreferencesAreShedLast(t *testing.T) {
	t.Parallel()
	in := input(history(30)...)
	rules := len(under(build(t, in).MemoryMD, "## User preferences"))
	in.MaxMemoryBytes = len(build(t, in).MemoryMD) * 3 / 5
	got := build(t, in).MemoryMD
	if n := len(under(got, "## User preferences")); n != rules {
		t.Errorf("%d of %d preferences are left", n, rules)
	}
	if lines := under(got, "## Recent work"); len(lines) > 10 {
		t.Errorf("%d lines of recent work are left", len(lines))
	}
}

func TestNothingIsSaidOfSheddingWhereAllFits(t *testing.T) {
	t.Parallel()
	if got := build(t, input(history(3)...)).MemoryMD; strings.Contains(got, "left out") {
		t.Errorf("got\n%s", got)
	}
}
