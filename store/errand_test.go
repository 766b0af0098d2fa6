package store

import (
	"strings"
	"testing"
	"time"
)

// holdForOther holds the project for other work, in a process that is gone.
func holdForOther(t *testing.T, s *Store) ProjectClaim {
	t.Helper()
	c, ok, err := s.ClaimProject(t.Context(), project, ProjectClaimOptions{Holder: deadHolder(), Lease: time.Hour, Always: true})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return c
}

func TestWhoDiesOverOtherWorkLeavesADeadProjectDead(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.FailProject(t.Context(), claimProject(t, s), Failure{Message: "no memory in that"}, Policy{}))
	wantDeclined(t, s, DeclinedDead)
	holdForOther(t, s)
	if c := wantDeclined(t, s, DeclinedDead); c.LastError != "no memory in that" {
		t.Errorf("its last error is %q", c.LastError)
	}
	must(t, s.GiveBackProject(t.Context(), claimAlways(t, s)))
	wantDeclined(t, s, DeclinedDead)
	extracted(t, s, worth("b"))
	claimProject(t, s)
}

func TestWhoDiesOverOtherWorkMakesNoProjectDead(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	for range MaxCrashes + 1 {
		holdForOther(t, s)
	}
	if c := claimProject(t, s); c.Crashes != 0 {
		t.Errorf("%d crashes count", c.Crashes)
	}
}

func TestAWaitingProjectThatForgetsSaysStillThatItFailed(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.FailProject(t.Context(), claimProject(t, s), Failure{Message: "line 3, “ask Ada”, cites nobody", Transient: true}, Policy{Base: time.Hour}))
	c, err := s.BeginForgetting(t.Context(), claimAlways(t, s), Forgetting{Keys: []string{"codex:s00"}})
	must(t, err)
	must(t, s.GiveBackProject(t.Context(), c))
	if c := wantDeclined(t, s, DeclinedBackoff); c.LastError == "" || strings.Contains(c.LastError, "Ada") {
		t.Errorf("its last error is %q", c.LastError)
	}
}

func TestAProjectThatWasHeldForOtherWorkIsPendingOnlyIfItIsDue(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	status := func() (status string) {
		must(t, s.read(t.Context(), func(t tx) error {
			return t.get(`SELECT status FROM job WHERE kind = 'consolidate' AND key = ?`, []any{project}, &status)
		}))
		return status
	}
	must(t, s.GiveBackProject(t.Context(), claimAlways(t, s)))
	if got := status(); got != "pending" {
		t.Errorf("due, it is %s", got)
	}
	must(t, s.FinishProjectUnchanged(t.Context(), claimProject(t, s)))
	before, err := s.Standings(t.Context())
	must(t, err)
	must(t, s.GiveBackProject(t.Context(), claimAlways(t, s)))
	if got := status(); got != "done" {
		t.Errorf("not due, it is %s", got)
	}
	after, err := s.Standings(t.Context())
	if must(t, err); !after[project].Consolidated.Equal(before[project].Consolidated) || before[project].Consolidated.IsZero() {
		t.Errorf("consolidated %v, and %v before", after[project].Consolidated, before[project].Consolidated)
	}
	must(t, s.Enqueue(t.Context(), project))
	must(t, s.GiveBackProject(t.Context(), claimAlways(t, s)))
	if got := status(); got != "pending" {
		t.Errorf("asked for, it is %s", got)
	}
}
