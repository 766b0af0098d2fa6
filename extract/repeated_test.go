package extract_test

import (
	"testing"

	"memoir"
)

func TestWhatAFailureSaysIsNotAlsoAFinding(t *testing.T) {
	t.Parallel()
	cause := "The `exhaustive` linter requires that each case of an enumeration is handled."
	e := new(talk).says("add the kind").edits("/src/app/kind.go").runs("make lint", 1, "kind.go:4:2: missing cases in switch (exhaustive)").
		narrates(cause).edits("/src/app/kind.go").runs("make lint", 0, "ok").answers("Added the kind.").extract(t)
	if got := of(e, memoir.StatementDecision); holds(got, "each case of an enumeration") {
		t.Errorf("told twice: %q and %q", of(e, memoir.StatementFailure), got)
	}
	if !holds(of(e, memoir.StatementFailure), "each case of an enumeration") {
		t.Errorf("lost: %q", of(e, memoir.StatementFailure))
	}
}

func TestAnEntryOnWhatWasAddedIsNoFinding(t *testing.T) {
	t.Parallel()
	got := of(work().rewrites("/src/app/up_test.go", "package app", "package app\n\nfunc TestUploadsTwice(t *testing.T) {}").
		answers("Done:\n\n- `TestUploadsTwice` - verifies that a second upload requires no second key").extract(t), memoir.StatementDecision)
	if holds(got, "TestUploadsTwice") {
		t.Errorf("got %q", got)
	}
}
