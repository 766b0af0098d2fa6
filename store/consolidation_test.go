package store

import (
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

func claimProject(t testing.TB, s *Store) ProjectClaim {
	t.Helper()
	c, ok, err := s.ClaimProject(t.Context(), project, forMinutes)
	if must(t, err); !ok {
		t.Fatalf("project was not claimed: %+v", c)
	}
	return c
}

func wantDeclined(t testing.TB, s *Store, want Declined) ProjectClaim {
	t.Helper()
	c, ok, err := s.ClaimProject(t.Context(), project, forMinutes)
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
	if c.Seq != 1 || c.Generation != 0 || c.Fence != 1 || c.Attempt != 1 || c.Forced || !c.LeaseUntil.Equal(noon.Add(3*time.Minute)) {
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
	for name, abandon := range map[string]func(*fakeClock) lease.Holder{
		"its holder died":       func(*fakeClock) lease.Holder { return deadHolder() },
		"its lease has expired": func(*fakeClock) lease.Holder { return elsewhere() },
	} {
		s, clock := newDue(t)
		former, ok, err := s.ClaimProject(t.Context(), project, ProjectClaimOptions{Holder: abandon(clock), Lease: time.Minute})
		if must(t, err); !ok {
			t.Fatal(former)
		}
		if name == "its lease has expired" {
			clock.advance(time.Minute)
		}
		now := claimProject(t, s)
		if now.Fence <= former.Fence || now.Crashes != 1 || now.Seq != former.Seq {
			t.Errorf("%s: claim %+v after %+v", name, now, former)
		}
		if ok, err := s.ExtendProject(t.Context(), former, clock.Now().Add(time.Hour)); ok || err != nil {
			t.Errorf("%s: the former holder extended its lease: %v", name, err)
		}
		wantCode(t, s.Publish(t.Context(), former, GenerationRecord{N: 1}, func() error { t.Error("swapped"); return nil }), memoir.CodeLeaseLost)
		wantCode(t, s.FinishProjectUnchanged(t.Context(), former), memoir.CodeLeaseLost)
		wantCode(t, s.FailProject(t.Context(), former, transient, Policy{}), memoir.CodeLeaseLost)
		must(t, s.GiveBackProject(t.Context(), former))
		if ok, err := s.ExtendProject(t.Context(), now, clock.Now().Add(time.Hour)); !ok || err != nil {
			t.Errorf("%s: the new holder lost it: %v", name, err)
		}
	}
}

func TestAProjectThatProcessesDieOverIsDeadUntilItChanges(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	for range 3 {
		if _, ok, err := s.ClaimProject(t.Context(), project, ProjectClaimOptions{Holder: deadHolder(), Lease: time.Hour}); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if c := wantDeclined(t, s, DeclinedDead); !strings.Contains(c.LastError, "ended while working on it") {
		t.Fatalf("last error %q", c.LastError)
	}
	extracted(t, s, worth("b"))
	claimProject(t, s)
}

func TestADelayAfterAFailureIsKeptWhateverHappens(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	must(t, s.FailProject(t.Context(), claimProject(t, s), Failure{Message: "overloaded", Transient: true}, Policy{Base: 3 * time.Minute}))
	c := wantDeclined(t, s, DeclinedBackoff)
	if !c.RetryAt.Equal(noon.Add(3*time.Minute)) || c.LastError != "overloaded" {
		t.Fatalf("declined with %+v", c)
	}
	must(t, s.Enqueue(t.Context(), project))
	wantDeclined(t, s, DeclinedBackoff)
	extracted(t, s, worth("b"))
	wantDeclined(t, s, DeclinedBackoff)
	clock.advance(3 * time.Minute)
	claimProject(t, s)
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
			must(t, s.FailProject(t.Context(), c, transient, Policy{Base: time.Second}))
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
		must(t, s.Publish(t.Context(), c, GenerationRecord{N: 1, At: noon}, func() error { return nil }))
		if row := projectRow(t, s, project); !row.Due || row.ConsumedSeq != 1 || row.ChangeSeq != 2 {
			t.Errorf("%s was lost: %+v", name, row)
		}
		if next := claimProject(t, s); next.Forced != (name == "a request") {
			t.Errorf("%s: forced %v", name, next.Forced)
		}
	}
}

func TestGivingAProjectBackCountsNothingAndLeavesItDue(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	for range 5 {
		c := claimProject(t, s)
		if c.Attempt != 1 || c.Crashes != 0 {
			t.Fatalf("claim %+v", c)
		}
		ctx, cancel := cancelled(t)
		must(t, s.GiveBackProject(ctx, c))
		cancel()
	}
}

func TestOtherWorkOnAProjectThatWaitsLeavesItWaiting(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*Store, ProjectClaim) error{
		"given back": func(s *Store, c ProjectClaim) error { return s.GiveBackProject(background(), c) },
		"restored": func(s *Store, c ProjectClaim) error {
			return s.Publish(background(), c, GenerationRecord{N: 1, At: noon, Restored: true}, func() error { return nil })
		},
		"published, and nothing consumed": func(s *Store, c ProjectClaim) error {
			c.Seq = 0
			return s.Publish(background(), c, GenerationRecord{N: 1, At: noon}, func() error { return nil })
		},
	} {
		s, clock := newDue(t)
		wait := func(want Declined, failures int) {
			t.Helper()
			wantDeclined(t, s, want)
			must(t, do(s, hold(t, s, project)))
			wantDeclined(t, s, want)
			status, err := s.Status(t.Context())
			must(t, err)
			if len(status.Failed)+len(status.Dead) != 1 || !projectRow(t, s, project).Due {
				t.Errorf("%s: %+v", name, status)
			}
			if want == DeclinedBackoff && status.Failed[0].Attempts != failures {
				t.Errorf("%s: %+v", name, status.Failed)
			}
		}
		must(t, s.FailProject(t.Context(), claimProject(t, s), transient, Policy{Base: time.Minute}))
		if name == "given back" { // the others make the only generation
			wait(DeclinedBackoff, 1)
		}
		for range 2 {
			clock.advance(time.Hour)
			must(t, s.FailProject(t.Context(), claimProject(t, s), transient, Policy{Base: time.Minute}))
		}
		wait(DeclinedDead, 3)
		must(t, s.Enqueue(t.Context(), project))
		claimProject(t, s)
	}
}

func TestAnExpiredLeaseThatNobodyTookCanBeExtended(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	c := claimProject(t, s)
	clock.advance(time.Hour)
	wantCode(t, s.Publish(t.Context(), c, GenerationRecord{N: 1}, func() error { t.Error("swapped"); return nil }), memoir.CodeLeaseLost)
	ok, err := s.ExtendProject(t.Context(), c, clock.Now().Add(time.Minute))
	if must(t, err); !ok {
		t.Fatal("lost, though nobody took it")
	}
	must(t, s.Publish(t.Context(), c, GenerationRecord{N: 1}, func() error { return nil }))
}

func TestTheProjectsThatAreDueAreListed(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	register(t, s, "idle-0123456789ab", "asked-0123456789ab")
	must(t, s.Enqueue(t.Context(), "asked-0123456789ab"))
	rows, err := s.Projects(t.Context())
	must(t, err)
	var due []string
	for _, row := range rows {
		if row.Due {
			due = append(due, row.ID)
		}
	}
	if strings.Join(due, " ") != "asked-0123456789ab "+project {
		t.Fatalf("due %v", due)
	}
	wantCode(t, s.Enqueue(t.Context(), "none"), memoir.CodeNotFound)
}

func TestAProjectThatAProcessDiedOverComesLastAndIsDeadAfterThree(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	must(t, s.StoreExtraction(t.Context(), claimOne(t, s), worth("a")))
	o := ProjectClaimOptions{Holder: deadHolder(), Lease: time.Minute, NoSuspects: true}
	claimed := func(o ProjectClaimOptions) ProjectClaim {
		t.Helper()
		c, ok, err := s.ClaimProject(t.Context(), project, o)
		if must(t, err); !ok {
			t.Fatalf("not claimed: %+v", c)
		}
		return c
	}
	declined := func(o ProjectClaimOptions, want Declined) {
		t.Helper()
		if c, ok, err := s.ClaimProject(t.Context(), project, o); err != nil || ok || c.Declined != want {
			t.Fatalf("%+v %v %v, want it declined as %s", c, ok, err, want)
		}
	}

	// Who works on it otherwise may be killed as often as anybody likes.
	for range 5 {
		claimed(ProjectClaimOptions{Holder: deadHolder(), Lease: time.Minute, Always: true})
	}
	if c := claimed(o); c.Crashes != 0 {
		t.Fatalf("%d crashes", c.Crashes)
	}
	declined(o, DeclinedSuspect)
	o.NoSuspects = false
	for crashes := 1; crashes < MaxCrashes; crashes++ {
		if c := claimed(o); c.Crashes != crashes {
			t.Fatalf("%d crashes, want %d", c.Crashes, crashes)
		}
	}
	declined(o, DeclinedDead)
	st, err := s.Status(t.Context())
	if must(t, err); len(st.Dead) != 1 || st.Dead[0].Key != project || st.Dead[0].Error == "" || st.Dead[0].Crashes != MaxCrashes {
		t.Errorf("status: %+v", st.Dead)
	}

	// A person, or something new, revives it, with what is known of it.
	must(t, s.Enqueue(t.Context(), project))
	o.NoSuspects = true
	declined(o, DeclinedSuspect)
	o.NoSuspects = false
	must(t, s.FinishProjectUnchanged(t.Context(), claimed(o)))
	must(t, s.Enqueue(t.Context(), project))
	o.NoSuspects = true
	if c := claimed(o); c.Crashes != 0 {
		t.Errorf("%d crashes after it went well", c.Crashes)
	}
}

// What a project's memory is made of is its own; one that is worked on, or waits, holds up no
// other, in either phase.
func TestProjectsAreWorkedOnApart(t *testing.T) {
	t.Parallel()
	const other = "other-0123456789ab"
	s, _ := newQueue(t, 2)
	register(t, s, other)
	theirs := func(se *memoir.Session) { se.ProjectID = other }
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
		all, err := s.Extractions(t.Context(), id)
		if must(t, err); len(all) != 1 || all[0].RawMemory != want {
			t.Errorf("%s rests on %+v", id, all)
		}
		if selected, others, err := s.Selected(t.Context(), id, 1); err != nil || len(selected) != 1 || selected[0].RawMemory != want || len(others) != 0 {
			t.Errorf("%s is made of %+v and %v, %v", id, selected, others, err)
		}
	}
	held := claimProject(t, s)
	c, ok, err := s.ClaimProject(t.Context(), other, forMinutes)
	if must(t, err); !ok {
		t.Fatalf("held up by another project: %+v", c)
	}
	must(t, s.FailProject(t.Context(), held, transient, Policy{Base: time.Hour}))
	must(t, s.Publish(t.Context(), c, GenerationRecord{N: 1}, func() error { return nil }))
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
		must(t, s.FailProject(t.Context(), claimProject(t, s), transient, Policy{Base: time.Hour}))
		change(s)
		if c := wantDeclined(t, s, DeclinedBackoff); !c.RetryAt.Equal(noon.Add(time.Hour)) {
			t.Errorf("%s: tried again at %s", name, c.RetryAt)
		}
		if _, err := s.Retry(t.Context(), project); err != nil {
			t.Fatal(err)
		}
		must(t, s.GiveBackProject(t.Context(), claimProject(t, s)))
		must(t, s.FailProject(t.Context(), claimProject(t, s), transient, Policy{Base: time.Hour}))
		clock.advance(time.Hour)
		claimProject(t, s)
	}
}
