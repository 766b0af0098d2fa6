package main

import (
	"testing"

	"memoir/pipeline"
)

func TestAProjectThatFailedBeforeIsToldOnce(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]pipeline.ProjectReport{
		"app: failed before (no room), tried again from noon": {Name: "app", Outcome: pipeline.OutcomeBackoff, Detail: "failed before (no room), tried again from noon"},
		"app: failed before, tried again later":               {Name: "app", Outcome: pipeline.OutcomeBackoff},
	} {
		if got := sayProject(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
