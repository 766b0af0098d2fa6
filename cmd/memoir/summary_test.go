package main

import (
	"testing"

	"memoir/pipeline"
)

func TestWhatIsDroppedOfAnswersIsTold(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]pipeline.Grounding{
		"answers: 1 statement and 2 lines of memory kept": {Statements: 1, Lines: 2},
		"answers: 1 statement and 0 lines of memory kept; 2 sessions read on from where they were left; 1 session read in several calls": {
			Statements: 1, Grown: 2, InPasses: 1},
		"answers: 0 statements and 0 lines of memory kept; dropped 9 repeated, or more than one answer may hold; 1 session read on from where it was left": {
			Grown: 1, Dropped: map[string]int{pipeline.DroppedCrowded: 9}},
		"answers: 5 statements and 0 lines of memory kept; dropped 2 citing no item, 1 with a quotation that the cited items do not have": {
			Statements: 5, Dropped: map[string]int{pipeline.DroppedUngrounded: 1, pipeline.DroppedUncited: 2}},
	} {
		if got := sayGrounding(g); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, reason := range pipeline.DroppedReasons {
		if whyDropped[reason] == "" {
			t.Errorf("%s has no words", reason)
		}
	}
}

func TestWhatIsLeftOutOfSessionsIsTold(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]pipeline.Grounding{
		"1 session is too large for the calls to be made: 205 of 767 items not read": {Cut: 1, CutItems: 767, Omitted: 205},
		"2 sessions are too large for the calls to be made: 3 of 9 items not read":   {Cut: 2, CutItems: 9, Omitted: 3},
	} {
		if got := sayCut(g); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

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
