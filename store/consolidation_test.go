package store

import (
	"maps"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

var forMinutes = ProjectClaimOptions{Holder: lease.Self(), Lease: 3 * time.Minute}

// newDue returns a store whose project has one extraction that was not consolidated.
func newDue(t testing.TB) (*Store, *fakeClock) {
	t.Helper()
	s, clock := newQueue(t, 3)
	extracted(t, s, worth("a"))
	return s, clock
}

func claimAs(t testing.TB, s *Store, id string, o ProjectClaimOptions) ProjectClaim {
	t.Helper()
	c, ok, err := s.ClaimProject(t.Context(), id, o)
	if must(t, err); !ok {
		t.Fatalf("%s was not claimed: %+v", id, c)
	}
	return c
}

func claimProject(t testing.TB, s *Store) ProjectClaim {
	t.Helper()
	return claimAs(t, s, project, forMinutes)
}

// hold claims a project for other work than consolidating it, due or not.
func hold(t testing.TB, s *Store, id string) ProjectClaim {
	t.Helper()
	return claimAs(t, s, id, ProjectClaimOptions{Holder: lease.Self(), Lease: time.Minute, Always: true})
}

func publish(t testing.TB, s *Store, c ProjectClaim, g GenerationRecord) {
	t.Helper()
	must(t, s.Publish(t.Context(), c, PublishLast, g, func() error { return nil }))
}

func wantDeclined(t testing.TB, s *Store, want Declined) ProjectClaim {
	t.Helper()
	return wantDeclinedFor(t, s, forMinutes, want)
}

func wantDeclinedFor(t testing.TB, s *Store, o ProjectClaimOptions, want Declined) ProjectClaim {
	t.Helper()
	c, ok, err := s.ClaimProject(t.Context(), project, o)
	if err != nil || ok || c.Declined != want {
		t.Fatalf("claim %+v, %v, %v; want it declined as %s", c, ok, err, want)
	}
	return c
}

func TestAProjectIsClaimedOnlyWhenItIsDue(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	wantDeclined(t, s, DeclinedNotDue) // nothing was extracted
	extracted(t, s, worth("a"))
	c := claimProject(t, s)
	if c.Seq != 1 || c.Generation != 0 || c.Fence != 1 || c.Attempt != 1 || c.Forced {
		t.Errorf("claim %+v", c)
	}
	must(t, s.FinishProjectUnchanged(t.Context(), c))
	wantDeclined(t, s, DeclinedNotDue)
	wantCode(t, s.FinishProjectUnchanged(t.Context(), c), memoir.CodeLeaseLost)
	_, _, err := s.ClaimProject(t.Context(), "none", forMinutes)
	wantCode(t, err, memoir.CodeNotFound)
}

func TestTheFenceMovesOnlyForRealWorkAndNeverBack(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	first := claimProject(t, s)
	must(t, s.FinishProjectUnchanged(t.Context(), first))
	for range 5 {
		wantDeclined(t, s, DeclinedNotDue)
	}
	extracted(t, s, worth("b"))
	if second := claimProject(t, s); second.Fence != first.Fence+1 {
		t.Fatalf("fence %d after %d", second.Fence, first.Fence)
	}
	must(t, s.Clear(t.Context(), project))
	register(t, s, project)
	must(t, s.Enqueue(t.Context(), project))
	if third := claimProject(t, s); third.Fence != first.Fence+2 {
		t.Fatalf("fence %d in a project that was cleared and came back, after %d", third.Fence, first.Fence+1)
	}
}

func TestAProjectThatAnotherConsolidatesIsBusyAndTheErrorNamesIt(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	claimProject(t, s)
	clock.advance(time.Minute)
	_, ok, err := s.ClaimProject(t.Context(), project, forMinutes)
	wantCode(t, err, memoir.CodeBusy)
	for _, part := range []string{lease.Self().Describe(), "since 2026-09-01T12:00:00Z", "until 2026-09-01T12:03:00Z"} {
		if ok || !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), project) {
		t.Errorf("error %q names the project, which its reader asked for", err)
	}
}

func TestAnAbandonedProjectIsTakenOverAndTheFormerHolderCanDoNothing(t *testing.T) {
	t.Parallel()
	for name, former := range map[string]struct {
		holder lease.Holder
		after  time.Duration
	}{
		"its holder died":       {deadHolder(), 0},
		"its lease has expired": {elsewhere(), time.Minute},
	} {
		s, clock := newDue(t)
		after, former := former.after, claimAs(t, s, project, ProjectClaimOptions{Holder: former.holder, Lease: time.Minute})
		clock.advance(after)
		now := claimProject(t, s)
		if now.Fence <= former.Fence || now.Crashes != 1 || now.Seq != former.Seq {
			t.Errorf("%s: claim %+v after %+v", name, now, former)
		}
		if extend(t, s, former, clock.Now().Add(time.Hour)) {
			t.Errorf("%s: the former holder extended its lease", name)
		}
		wantCode(t, s.Publish(t.Context(), former, PublishLast, GenerationRecord{N: 1}, func() error { t.Error("swapped"); return nil }), memoir.CodeLeaseLost)
		wantCode(t, s.FinishProjectUnchanged(t.Context(), former), memoir.CodeLeaseLost)
		wantCode(t, failed(s, former, transient, Policy{}), memoir.CodeLeaseLost)
		must(t, s.Release(t.Context(), former))
		if !extend(t, s, now, clock.Now().Add(time.Hour)) {
			t.Errorf("%s: the new holder lost it", name)
		}
	}
}

func TestThreeFailuresGiveAProjectUpUntilItChangesOrIsRetried(t *testing.T) {
	t.Parallel()
	for name, revive := range map[string]func(*Store) error{
		"a change":  func(s *Store) error { extracted(t, s, worth("b")); return nil },
		"a request": func(s *Store) error { return s.Enqueue(background(), project) },
		"a retry":   func(s *Store) error { _, err := s.Retry(background(), project); return err },
	} {
		s, clock := newDue(t)
		for attempt := 1; attempt <= 3; attempt++ {
			c := claimProject(t, s)
			if c.Attempt != attempt {
				t.Fatalf("%s: attempt %d, want %d", name, c.Attempt, attempt)
			}
			fail(t, s, c, transient, Policy{Base: time.Second})
			clock.advance(time.Hour)
		}
		wantDeclined(t, s, DeclinedDead)
		if !projectRow(t, s, project).Due {
			t.Errorf("%s: what failed counts as consumed", name)
		}
		must(t, revive(s))
		if c := claimProject(t, s); c.Attempt != 1 {
			t.Errorf("%s: attempt %d", name, c.Attempt)
		}
	}
}

func TestWhatArrivesDuringAConsolidationIsLeftForTheNext(t *testing.T) {
	t.Parallel()
	for name, arrive := range map[string]func(*Store){
		"an extraction": func(s *Store) { extracted(t, s, worth("b")) },
		"a request":     func(s *Store) { must(t, s.Enqueue(background(), project)) },
	} {
		s, _ := newDue(t)
		c := claimProject(t, s)
		arrive(s)
		publish(t, s, c, GenerationRecord{N: 1, At: noon})
		if row := projectRow(t, s, project); !row.Due || row.ConsumedSeq != 1 || row.ChangeSeq != 2 {
			t.Errorf("%s was lost: %+v", name, row)
		}
		if next := claimProject(t, s); next.Forced != (name == "a request") {
			t.Errorf("%s: forced %v", name, next.Forced)
		}
	}
}

// Restoring, forgetting and merging hold a project as well. However that ends, the project
// is as due, waiting or dead as it was.
func TestOtherWorkLeavesAProjectAsItWas(t *testing.T) {
	t.Parallel()
	for was, state := range map[string]struct {
		bring func(*Store, ProjectClaim) error
		want  Declined // none: it can be claimed
		jobs  map[string]int
	}{
		"due":  {func(s *Store, c ProjectClaim) error { return s.Release(background(), c) }, "", map[string]int{"done": 1, "pending": 1}},
		"done": {func(s *Store, c ProjectClaim) error { return s.FinishProjectUnchanged(background(), c) }, DeclinedNotDue, map[string]int{"done": 2}},
		"waiting": {func(s *Store, c ProjectClaim) error { return failed(s, c, transient, Policy{Base: time.Hour}) },
			DeclinedBackoff, map[string]int{"done": 1, "error": 1}},
		"dead": {func(s *Store, c ProjectClaim) error { return failed(s, c, Failure{Message: "timeout"}, Policy{}) },
			DeclinedDead, map[string]int{"done": 1, "dead": 1}},
	} {
		for work, do := range map[string]func(*Store){
			"given back": func(s *Store) { must(t, s.Release(cancelled(t), hold(t, s, project))) },
			"published": func(s *Store) {
				c := hold(t, s, project)
				must(t, s.Publish(t.Context(), c, PublishPart, GenerationRecord{N: 1, At: noon}, func() error { return nil }))
				must(t, s.Release(t.Context(), c))
			},
			"died over": func(s *Store) {
				for range MaxCrashes + 1 {
					claimAs(t, s, project, ProjectClaimOptions{Holder: deadHolder(), Lease: time.Hour, Always: true})
				}
			},
		} {
			s, _ := newDue(t)
			must(t, state.bring(s, claimProject(t, s)))
			do(s)
			status, err := s.Status(t.Context())
			if must(t, err); work != "died over" && !maps.Equal(status.Jobs, state.jobs) {
				t.Errorf("%s, then %s: jobs %v", was, work, status.Jobs)
			}
			c, ok, err := s.ClaimProject(t.Context(), project, forMinutes)
			if must(t, err); ok != (state.want == "") || c.Declined != state.want || c.Crashes != 0 || len(state.jobs) == 2 && state.jobs["pending"] == 0 && c.LastError != "timeout" {
				t.Errorf("%s, then %s: claim %+v", was, work, c)
			}
		}
	}
}

func TestAProjectThatAProcessDiedOverComesLastAndIsDeadAfterThree(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	o := ProjectClaimOptions{Holder: deadHolder(), Lease: time.Minute}
	first := o
	first.NoSuspects = true
	claimAs(t, s, project, first)
	wantDeclinedFor(t, s, first, DeclinedSuspect)
	for crashes := 1; crashes < MaxCrashes; crashes++ {
		if c := claimAs(t, s, project, o); c.Crashes != crashes {
			t.Fatalf("%d crashes, want %d", c.Crashes, crashes)
		}
	}
	wantDeclinedFor(t, s, o, DeclinedDead)
	st, err := s.Status(t.Context())
	if must(t, err); len(st.Dead) != 1 || st.Dead[0].Key != project || !strings.Contains(st.Dead[0].Error, "ended while working on it") || st.Dead[0].Crashes != MaxCrashes {
		t.Errorf("status: %+v", st.Dead)
	}

	// Something new, or a person, revives it, with what is known of it.
	extracted(t, s, worth("b"))
	wantDeclinedFor(t, s, first, DeclinedSuspect)
	must(t, s.FinishProjectUnchanged(t.Context(), claimAs(t, s, project, o)))
	must(t, s.Enqueue(t.Context(), project))
	if c := claimAs(t, s, project, first); c.Crashes != 0 {
		t.Errorf("%d crashes after it went well", c.Crashes)
	}
}

// What a project's memory is made of is its own; one that is worked on, or waits, holds up no
// other, in either phase.
func TestProjectsAreWorkedOnApart(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	register(t, s, other)
	scan(t, s, session("t00", ended(time.Hour+24*time.Hour), theirs), session("t01", ended(2*time.Hour+24*time.Hour), theirs))
	of := func(id string) ClaimOptions {
		o := claimOptions(1)
		o.Window.Projects, o.RunningCap = []string{id}, 3
		return o
	}
	ours, them := claim(t, s, of(project)), claim(t, s, of(other))
	wantIDs(t, ours, "s00")
	wantIDs(t, them, "t00")
	must(t, s.StoreExtraction(t.Context(), ours[0], worth("ours")))
	must(t, s.StoreExtraction(t.Context(), them[0], worth("theirs")))
	for id, want := range map[string]string{project: "ours", other: "theirs"} {
		if all := inputsOf(t, s, id); len(all) != 1 || rawOf(all[0]) != want {
			t.Errorf("%s rests on %+v", id, all)
		}
		if selected, others, err := s.Selected(t.Context(), id, 1); err != nil || len(selected) != 1 || rawOf(selected[0]) != want || len(others) != 0 {
			t.Errorf("%s is made of %+v and %v, %v", id, selected, others, err)
		}
	}
	held := claimProject(t, s)
	c := claimAs(t, s, other, forMinutes) // not held up by another project
	fail(t, s, held, transient, Policy{Base: time.Hour})
	publish(t, s, c, GenerationRecord{N: 1})
	if row := projectRow(t, s, project); !row.Due || row.Generation != 0 {
		t.Errorf("the other's publication changed it: %+v", row)
	}
	wantIDs(t, claim(t, s, of(other)), "t01")
}

// A delay after a failure holds though the project changes, or a person asks for it; that
// they have it tried again ends it.
func TestADelayOfAProjectHoldsThoughItChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Store){
		"an extraction": func(s *Store) { extracted(t, s, worth("b")) },
		"a request":     func(s *Store) { must(t, s.Enqueue(t.Context(), project)) },
		"a withdrawal":  func(s *Store) { must(t, s.SetDisabled(t.Context(), "codex:s00", true)) },
	} {
		s, clock := newDue(t)
		fail(t, s, claimProject(t, s), transient, Policy{Base: time.Hour})
		change(s)
		if c := wantDeclined(t, s, DeclinedBackoff); !c.RetryAt.Equal(noon.Add(time.Hour)) || c.LastError != "timeout" {
			t.Errorf("%s: declined with %+v", name, c)
		}
		if _, err := s.Retry(t.Context(), project); err != nil {
			t.Fatal(err)
		}
		must(t, s.Release(t.Context(), claimProject(t, s)))
		fail(t, s, claimProject(t, s), transient, Policy{Base: time.Hour})
		clock.advance(time.Hour)
		claimProject(t, s)
	}
}
