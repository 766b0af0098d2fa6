package consolidate_test

import (
	"strconv"
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

func TestTheHeadTellsWhereLinesWereShed(t *testing.T) {
	t.Parallel()
	in := input(history(30)...)
	full := build(t, in).MemoryMD
	in.MaxMemoryBytes = len(full) * 2 / 3
	got := build(t, in).MemoryMD
	_, told, ok := strings.Cut(got, "lines of lesser value left out to stay within ")
	told, _, _ = strings.Cut(told, "._\n")
	_, told, _ = strings.Cut(told, ": ")
	if !ok || told == "" {
		t.Fatalf("nothing is said of what was left out:\n%s", got)
	}
	for part := range strings.SplitSeq(told, ", ") {
		n, name, _ := strings.Cut(part, " of ")
		lost := entries(under(full, "## "+name)) - entries(under(got, "## "+name))
		if strconv.Itoa(lost) != n {
			t.Errorf("%q, but %d lines are missing there", part, lost)
		}
	}
}

func entries(lines []string) (n int) {
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "- ") {
			n++
		}
	}
	return n
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
