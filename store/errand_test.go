package store

import (
	"strings"
	"testing"
	"time"
)

// errand holds the project for other work, in a process that is gone.
func errand(t *testing.T, s *Store) ProjectClaim {
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
	errand(t, s)
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
		errand(t, s)
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
