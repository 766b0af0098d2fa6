package rollout

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	piParentID   = "cccccccc-0000-4000-8000-000000000002"
	piParentStem = "2026-03-01T09-00-00-000Z_" + piParentID
)

// piForkOf is the header of a session that was forked from another one.
func piForkOf(key, parent string) string {
	return strings.Replace(piV3, `"cwd"`, `"`+key+`":`+q(parent)+`,"cwd"`, 1)
}

func TestPiForkGivesWhatItsParentDoesNot(t *testing.T) {
	t.Parallel()
	header := strings.Replace(piV3, piID, piParentID, 1)
	shared := []string{pe("1", "", piUser("a")), pe("2", "1", piAgent("A"))}
	copied := func(more ...string) []string { return append(append([]string(nil), shared...), more...) }
	tests := []struct {
		name     string
		bucket   string // of the parent; that of the fork is --w--
		parent   []string
		key, ref string
		fork     []string
		want     []string
		replayed int
	}{
		{"by its path", "--w--", copied(pe("3", "2", piUser("on"))), "parentSession", "/home/m/.pi/agent/sessions/--w--/" + piParentStem + ".jsonl",
			copied(pe("9", "2", piUser("b"))), []string{"typed: b"}, 2},
		{"by its id", "--w--", shared, "parentSession", piParentID, copied(pe("9", "2", piUser("b"))), []string{"typed: b"}, 2},
		{"of another project", "home-w2-" + strings.Repeat("ab", 32), shared, "parentSession", piParentID, copied(pe("9", "2", piUser("b"))), []string{"typed: b"}, 2},
		{"whose parent has undone it", "--w--", copied(pe("3", "", piUser("other"))), "parentSession", piParentID, copied(pe("9", "2", piUser("b"))), []string{"typed: a", "agent!: A", "typed: b"}, 0},
		{"whose parent is gone", "", nil, "parentSession", piParentID, copied(pe("9", "2", piUser("b"))), []string{"typed: a", "agent!: A", "typed: b"}, 0},
		{"that copied nothing, though ids are the same", "--w--", shared, "parentSession", piParentID,
			[]string{strings.Replace(pe("1", "", piUser("x")), "10:00:01", "11:00:01", 1), strings.Replace(pe("2", "1", piAgent("X")), "10:00:01", "11:00:01", 1)}, []string{"typed: x", "agent!: X"}, 0},
		{"whose copies have other times", "--w--", shared, "parentSession", piParentID,
			[]string{strings.Replace(shared[0], "10:00:01", "11:00:01", 1), pe("9", "1", piUser("b"))}, []string{"typed: b"}, 1},
		{"of version 1, without ids", "--w--", []string{`{"timestamp":"2025-12-01T10:00:01.000Z",` + piUser("a") + `}`}, "branchedFrom", "/x/" + piParentStem + ".jsonl",
			[]string{`{"timestamp":"2025-12-01T10:00:01.000Z",` + piUser("a") + `}`, `{"timestamp":"2025-12-01T10:00:09.000Z",` + piUser("b") + `}`}, []string{"typed: b"}, 1},
		{"that names itself", "", nil, "parentSession", piID, copied(), []string{"typed: a", "agent!: A"}, 0},
		{"of a file in a directory that is none of sessions", "notes", shared, "parentSession", piParentID, copied(), []string{"typed: a", "agent!: A"}, 0},
		{"of a file outside of the sessions", "../../elsewhere", shared, "parentSession", "../../elsewhere/" + piParentStem + ".jsonl", copied(), []string{"typed: a", "agent!: A"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sessions := filepath.Join(t.TempDir(), "agent", "sessions")
			if tt.bucket != "" {
				writeAt(t, filepath.Join(sessions, tt.bucket, piParentStem+".jsonl"), strings.Join(append([]string{header}, tt.parent...), "\n"))
			}
			fork := filepath.Join(sessions, "--w--", "2026-03-01T10-00-00-000Z_"+piID+".jsonl")
			writeAt(t, fork, strings.Join(append([]string{piForkOf(tt.key, tt.ref)}, tt.fork...), "\n"))
			items, stats := read(t, fork)
			expect(t, items, tt.want...)
			if stats.Replayed != tt.replayed || stats.Undone != 0 {
				t.Errorf("replayed %d, undone %d; want %d", stats.Replayed, stats.Undone, tt.replayed)
			}
		})
	}
}

func TestPiForkOutsideOfABucketLooksBesideItselfOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	parent := strings.Replace(piV3, piID, piParentID, 1) + "\n" + pe("1", "", piUser("a"))
	fork := piForkOf("parentSession", piParentID) + "\n" + pe("1", "", piUser("a")) + "\n" + pe("2", "1", piUser("b"))
	writeAt(t, filepath.Join(dir, "--w--", piParentStem+".jsonl"), parent)
	writeAt(t, filepath.Join(dir, "mine", "fork.jsonl"), fork)
	items, _ := read(t, filepath.Join(dir, "mine", "fork.jsonl"))
	expect(t, items, "typed: a", "typed: b")
	writeAt(t, filepath.Join(dir, "mine", piParentStem+".jsonl"), parent)
	items, _ = read(t, filepath.Join(dir, "mine", "fork.jsonl"))
	expect(t, items, "typed: b")
}
