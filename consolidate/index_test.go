package consolidate_test

import (
	"strings"
	"testing"
)

func TestTheMapNamesHeadingsThatExist(t *testing.T) {
	t.Parallel()
	for _, in := range []int{1, 3, 30} {
		c := build(t, input(history(in)...))
		pointers := 0
		for _, l := range under(c.MemorySummary, "## Where to look") {
			where, ok := strings.CutPrefix(l, "- MEMORY.md › ")
			if !ok {
				continue
			}
			pointers++
			where, _, _ = strings.Cut(where, " (")
			mark := "\n## "
			for part := range strings.SplitSeq(where, " › ") {
				if !strings.Contains(c.MemoryMD, mark+part+"\n") {
					t.Errorf("%d sessions: no heading %q", in, part)
				}
				mark = "\n### "
			}
		}
		if pointers < 3 {
			t.Errorf("%d sessions: %d pointers", in, pointers)
		}
	}
}

func TestTheMapHasWordsThatAreWorthSearching(t *testing.T) {
	t.Parallel()
	c := build(t, input(session(0, id(1),
		"Decisions: `LoadStore()` doesn't retry during shutdown because the session `198393f2-22db-477b-ac77-1825bea883ae` of `1807c8b` always locks the replica",
		"Decisions: the replica isn’t promoted during a restore, since `pkg/store/open.go` must see every write first")))
	got := strings.Join(under(c.MemorySummary, "## Where to look"), "\n")
	for _, want := range []string{"LoadStore", "open.go", "replica"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	for _, filler := range []string{"doesn", "isn", "during", "always", "198393f2", "1807c8b", "because"} {
		if strings.Contains(got, filler) {
			t.Errorf("%q is of no use in %s", filler, got)
		}
	}
}
