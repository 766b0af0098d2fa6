package memoir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"memoir"
)

func TestErrorfKeepsCauseCodeAndHint(t *testing.T) {
	t.Parallel()
	inner := memoir.Errorf(memoir.CodeStorage, "free some space", "write %s: %w", "a.md", fs.ErrPermission)
	err := fmt.Errorf("publish: %w", inner)

	if got, want := err.Error(), "publish: write a.md: permission denied"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if !errors.Is(err, fs.ErrPermission) {
		t.Error("the cause is lost")
	}
	if got := memoir.CodeOf(err); got != memoir.CodeStorage {
		t.Errorf("code %q", got)
	}
	if got := memoir.HintOf(err); got != "free some space" {
		t.Errorf("hint %q", got)
	}
}

func TestCodeOfForeignErrorsIsInternalAndOfNilEmpty(t *testing.T) {
	t.Parallel()
	if got := memoir.CodeOf(errors.New("x")); got != memoir.CodeInternal {
		t.Errorf("code %q", got)
	}
	if got := memoir.CodeOf(nil); got != "" {
		t.Errorf("code %q", got)
	}
}

func TestHintOfLooksBehindErrorsWithoutOne(t *testing.T) {
	t.Parallel()
	err := memoir.Errorf(memoir.CodeInternal, "", "outer: %w", memoir.Errorf(memoir.CodeBusy, "wait", "inner"))
	if got := memoir.HintOf(err); got != "wait" {
		t.Errorf("hint %q", got)
	}
}

func TestAnAnswerThatCouldNotBeUsedIsFound(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("extract: %w", &memoir.AnswerError{
		Err: memoir.Errorf(memoir.CodeModel, "try another", "x/y gave no JSON"),
	})
	if got, want := err.Error(), "extract: x/y gave no JSON"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	var answer *memoir.AnswerError
	if !errors.As(err, &answer) {
		t.Errorf("it is not found in %v", err)
	}
	if memoir.CodeOf(err) != memoir.CodeModel || memoir.HintOf(err) != "try another" {
		t.Errorf("code %q, hint %q", memoir.CodeOf(err), memoir.HintOf(err))
	}
}
