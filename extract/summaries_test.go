package extract_test

import (
	"testing"

	"memoir"
)

func TestTwoSummariesOfAFileAreOne(t *testing.T) {
	t.Parallel()
	s := func(between bool) []string {
		w := new(talk).says("switch the default off").edits("/src/app/cfg/set.go").
			answers("Done:\n\n- `cfg/set.go`: removed the branch of `Load` that set `Enabled` where it was missing\n- `cfg/doc.go`: says that `Enabled` is off by default")
		if between {
			w.says("and the tests").edits("/src/app/cfg/set.go")
		} else {
			w.says("sum it up").edits("/src/app/other.go")
		}
		return of(w.answers("All done:\n\n- `cfg/set.go` - removed the default of the setting from it\n- `other.go`: added the note on the default").extract(t), memoir.StatementOutcome)
	}
	if got := s(false); holds(got, "removed the default of the setting") || !holds(got, "removed the branch of `Load`") {
		t.Errorf("told twice: %q", got)
	}
	if got := s(true); !holds(got, "removed the default of the setting") {
		t.Errorf("the file was edited in between: %q", got)
	}
}

func TestAPathThatNobodyTouchedIsTheEditedOne(t *testing.T) {
	t.Parallel()
	got := of(new(talk).says("document the flag").edits("/src/app/GUIDE.md").answers("Updated the guide (pkg/cli/GUIDE.md): it explains the `--quiet` flag now.").extract(t), memoir.StatementOutcome)
	if holds(got, "pkg/cli/GUIDE.md") || !holds(got, "(GUIDE.md)") {
		t.Errorf("got %q", got)
	}
}
