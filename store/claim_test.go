package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

func wantIDs(t *testing.T, claims []Claim, want ...string) {
	t.Helper()
	if got := ids(claims); !slices.Equal(got, want) {
		t.Fatalf("claimed %v, want %v", got, want)
	}
}

func TestAClaimSaysAllThatTheWorkNeeds(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 1)
	two := []memoir.File{
		{Path: "/sessions/z-first.jsonl", Size: 1, ModTime: noon.Add(1), Inode: 1<<64 - 1},
		{Path: "/sessions/a-second.jsonl", Size: 2, ModTime: noon.Add(2)},
	}
	se := session("s00", func(se *memoir.Session) { se.Files = two })
	copyOf := FileRow{File: memoir.File{Path: "/sessions/copy.jsonl", Size: 1}}
	must(t, s.SaveScan(t.Context(), []SessionScan{{Session: se, Files: []FileRow{{File: two[1]}, copyOf, {File: two[0]}}}}, []string{"/sessions/s00.jsonl"}))
	c := claimOne(t, s)
	if !slices.Equal(c.Session.Files, two) {
		t.Errorf("files %v, want them in reading order and without the copy: %v", c.Session.Files, two)
	}
	if c.Session.Key() != "codex:s00" || c.Session.ProjectID != project || c.Session.Bytes != 3 || !c.Session.UpdatedAt.Equal(se.UpdatedAt) {
		t.Errorf("session %+v", c.Session)
	}
	if c.Token == "" || c.Attempt != 1 || c.Crashes != 0 || c.DoneHash != "" || c.Prior != nil || c.InputVersion != Fingerprint(two) {
		t.Errorf("claim %+v", c)
	}
	must(t, s.StoreExtraction(t.Context(), c, worth("a")))
	scan(t, s, session("s00", grown))
	clock.advance(time.Hour)
	again := claimOne(t, s)
	if again.DoneHash != "hash of a" || again.DoneFilterVersion != 1 || again.Prior == nil || rawOf(*again.Prior) != "a" || again.Token == c.Token {
		t.Errorf("second claim %+v", again)
	}
}

func TestClaimsKeepToTheWindow(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project, other)
	scan(t, s,
		session("going", ended(time.Minute)), session("fresh", ended(time.Hour)), session("idle", ended(12*time.Hour)),
		session("aged", ended(30*24*time.Hour)), session("old", ended(31*24*time.Hour)),
		session("theirs", ended(13*time.Hour), theirs),
	)
	tests := []struct {
		name   string
		change func(*Window)
		want   []string
	}{
		{"idle and age", func(*Window) {}, []string{"idle", "theirs", "aged"}},
		{"no limits", func(w *Window) { *w = Window{} }, []string{"going", "fresh", "idle", "theirs", "aged", "old"}},
		{"no idle time, but nothing active", func(w *Window) { w.MinIdle = 0 }, []string{"fresh", "idle", "theirs", "aged"}},
		{"a session that goes on now", func(w *Window) { w.Starting = "codex:idle" }, []string{"theirs", "aged"}},
		{"one project", func(w *Window) { w.Projects = []string{other} }, []string{"theirs"}},
		{"some sessions", func(w *Window) { w.Keys = []string{"codex:aged", "codex:fresh"} }, []string{"aged"}},
		{"a later day", func(w *Window) { w.Now = noon.Add(24 * time.Hour) }, []string{"going", "fresh", "idle", "theirs"}},
	}
	for _, tt := range tests {
		o := claimOptions(99)
		o.Window = dayAndMonth
		tt.change(&o.Window)
		claims := claim(t, s, o)
		if got := ids(claims); !slices.Equal(got, tt.want) {
			t.Errorf("%s: claimed %v, want %v", tt.name, got, tt.want)
		}
		giveBack(t, s, claims...)
	}
}

func TestTheRunningCapCountsAllProcesses(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 100)
	others := claimOptions(10)
	others.Holder = elsewhere()
	claim(t, s, others)
	o := claimOptions(100)
	o.RunningCap = 64
	if got := len(claim(t, s, o)); got != 54 {
		t.Fatalf("10 running and a cap of 64 left room for %d, want 54", got)
	}
	wantIDs(t, claim(t, s, o))
	clock.advance(time.Hour) // all leases have expired: nothing counts against the cap
	if got := len(claim(t, s, o)); got != 36 {
		t.Fatalf("claimed %d of the 36 that nobody has tried", got)
	}
}

func TestAFullBatchIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 20)
	o := claimOptions(8)
	o.RunningCap = 8
	for _, want := range []int{8, 8, 4, 0} {
		claims := claim(t, s, o)
		if len(claims) != want {
			t.Fatalf("claimed %d, want %d", len(claims), want)
		}
		for _, c := range claims {
			must(t, s.MarkUnchanged(t.Context(), c, "h", Result{}))
		}
	}
}

func TestARunningJobIsTakenOver(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		holder lease.Holder
		after  time.Duration
		taken  bool
		why    string
	}{
		{"not while its lease lasts", lease.Self(), 2*time.Minute - time.Millisecond, false, ""},
		{"not while its lease lasts and nobody knows its holder", elsewhere(), time.Minute, false, ""},
		{"when its lease has expired", elsewhere(), 2 * time.Minute, true, "did not extend its lease"},
		{"when its lease has expired, though its holder lives", lease.Self(), 2 * time.Minute, true, "did not extend its lease"},
		{"at once when its holder is dead", deadHolder(), 0, true, "ended while working on it"},
	}
	for _, tt := range tests {
		s, clock := newQueue(t, 1)
		o := claimOptions(1)
		o.Holder = tt.holder
		first := claim(t, s, o)[0]
		clock.advance(tt.after)
		wantIDs(t, claim(t, s, claimOptions(1)))
		got := claimSuspects(t, s)
		if (len(got) == 1) != tt.taken {
			t.Errorf("%s: claimed %v", tt.name, ids(got))
			continue
		}
		if !tt.taken {
			continue
		}
		if got[0].Crashes != 1 || got[0].Attempt != 1 || !strings.Contains(got[0].Session.Error, tt.why) {
			t.Errorf("%s: claim %+v, want one crash, no attempt, and that it %s", tt.name, got[0], tt.why)
		}
		wantCode(t, s.StoreExtraction(t.Context(), first, worth("late")), memoir.CodeLeaseLost)
	}
}

func TestASessionThatProcessesDieOverRunsLastAndIsDeadAfterThree(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 4)
	o := claimOptions(2)
	o.Holder = deadHolder()
	claim(t, s, o)                                         // s00 and s01
	wantIDs(t, claim(t, s, claimOptions(9)), "s02", "s03") // the poison does not hold up the queue
	o.Suspects, o.Limit = true, 1
	wantIDs(t, claim(t, s, o), "s00")
	suspect := claimSuspects(t, s)
	wantIDs(t, suspect, "s01") // which had fewer crashes
	must(t, s.StoreExtraction(t.Context(), suspect[0], worth("a")))
	got := claim(t, s, o)
	if wantIDs(t, got, "s00"); got[0].Crashes != 2 {
		t.Fatalf("%d crashes, want 2", got[0].Crashes)
	}
	wantIDs(t, claim(t, s, o))
	if got := reasonOf(t, s, "s00"); got != memoir.ReasonDead {
		t.Fatalf("after three crashes it is %s", got)
	}
	st, err := s.Status(t.Context())
	must(t, err)
	if len(st.Dead) != 1 || st.Dead[0].Key != "codex:s00" || st.Dead[0].Crashes != 3 || !strings.Contains(st.Dead[0].Error, "ended while working on it") {
		t.Fatalf("status shows %+v", st.Dead)
	}

	// Growing revives it, with what is known of it.
	scan(t, s, session("s00", grown))
	wantIDs(t, claim(t, s, claimOptions(9)))
	revived := claimSuspects(t, s)
	if wantIDs(t, revived, "s00"); revived[0].Crashes != 1 {
		t.Errorf("the crashes of its earlier version count as %d", revived[0].Crashes)
	}
}

func TestASuspectThatProvesHarmlessIsClearedOfIt(t *testing.T) {
	t.Parallel()
	for name, finish := range map[string]func(*Store, Claim) error{
		"by success":       func(s *Store, c Claim) error { return s.StoreExtraction(background(), c, worth("a")) },
		"by being the old": func(s *Store, c Claim) error { return s.MarkUnchanged(background(), c, "h", Result{}) },
		"by a failure that it survived": func(s *Store, c Claim) error {
			return failed(s, c, transient, Policy{})
		},
	} {
		s, _ := newQueue(t, 1)
		o := claimOptions(1)
		o.Holder = deadHolder()
		claim(t, s, o)
		must(t, finish(s, claimSuspects(t, s)[0]))
		scan(t, s, session("s00", grown))
		if got := claimOne(t, s); got.Crashes != 0 {
			t.Errorf("%s: still %d crashes", name, got.Crashes)
		}
	}
}

func TestGivingBackCountsNothingAndFreesAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	claims := claim(t, s, claimOptions(2))
	must(t, s.StoreExtraction(t.Context(), claims[1], worth("a")))
	for _, c := range claims {
		must(t, s.Release(cancelled(t), c)) // interrupted: the context has ended
	}
	if got := reasonOf(t, s, "s01"); got != memoir.ReasonUpToDate {
		t.Fatalf("a session that was done became %s", got)
	}
	again := claim(t, s, claimOptions(2))
	if wantIDs(t, again, "s00"); again[0].Attempt != 1 || again[0].Crashes != 0 {
		t.Fatalf("attempt %d, crashes %d", again[0].Attempt, again[0].Crashes)
	}
	giveBack(t, s, claims...) // not ours any more: nothing happens
	wantIDs(t, claim(t, s, claimOptions(2)))
}

// A lease that ran out is nobody's loss until somebody takes the work over.
func TestAnExpiredLeaseThatNobodyTookCanBeExtended(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	done := claimOne(t, s)
	must(t, s.MarkUnchanged(t.Context(), done, "h", Result{}))
	ours := claimOne(t, s)
	c := claimProject(t, s)
	clock.advance(time.Hour) // the laptop slept
	wantCode(t, s.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 1}, func() error { t.Error("swapped"); return nil }), memoir.CodeLeaseLost)
	until := clock.Now().Add(time.Minute)
	if extend(t, s, done, until) || extend(t, s, Claim{}, until) || !extend(t, s, ours, until) || !extend(t, s, c, until) {
		t.Error("what is done was extended, or what nobody took was not")
	}
	clock.advance(time.Minute - time.Millisecond)
	wantIDs(t, claimSuspects(t, s))
	publish(t, s, c, GenerationRecord{N: 1})
	clock.advance(time.Hour)
	must(t, s.StoreExtraction(t.Context(), ours, worth("a")))
}

func TestOutstandingCountsWhatLivingOthersExtract(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 6)
	for _, h := range []lease.Holder{lease.Self(), elsewhere(), elsewhere(), deadHolder()} {
		o := claimOptions(1)
		o.Holder = h
		claim(t, s, o)
	}
	for _, want := range []int{2, 0} { // then their leases have expired
		if got, err := s.Outstanding(t.Context(), project, lease.Self()); err != nil || got != want {
			t.Errorf("%d outstanding, want %d, %v", got, want, err)
		}
		clock.advance(time.Hour)
	}
}

// set opens the database once more, for a process whose wall clock was set by so much
// before it began, and returns its holder too.
func set(t *testing.T, path string, by time.Duration) (*Store, lease.Holder) {
	t.Helper()
	s := openAt(t, path, Options{Now: func() time.Time { return noon.Add(by) }})
	holder := lease.Self()
	if holder.Zero == 0 {
		t.Skip("the monotonic clock can't be read here")
	}
	holder.Zero += by.Milliseconds()
	return s, holder
}

func TestALeaseIsNotTakenFromAProcessWhoseClockWasSet(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		s, _ := newDue(t)
		other, holder := set(t, s.Path(), by)
		o := claimOptions(1)
		o.Holder = holder
		claims := claim(t, other, o)
		c, ok, err := other.ClaimProject(t.Context(), project, ProjectClaimOptions{Holder: holder, Lease: time.Minute})
		if must(t, err); !ok || len(claims) != 1 {
			t.Fatalf("claimed %v, project %v", ids(claims), ok)
		}
		if taken := claimSuspects(t, s); len(taken) > 0 {
			t.Errorf("set by %s: %v was taken over", by, ids(taken))
		}
		if _, _, err := s.ClaimProject(t.Context(), project, forMinutes); memoir.CodeOf(err) != memoir.CodeBusy {
			t.Errorf("set by %s: the project was taken over: %v", by, err)
		}
		now, err := s.Status(t.Context())
		if must(t, err); len(now.Running) != 2 || now.Running[0].Stale || now.Running[1].Stale {
			t.Errorf("set by %s: status has %+v", by, now.Running)
		}
		must(t, other.StoreExtraction(t.Context(), claims[0], worth("kept")))
		must(t, other.Publish(t.Context(), c, PublishLast, GenerationRecord{N: 1}, func() error { return nil }))
	}
}

func TestADelayDoesNotOutlastAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	s, clock := newDue(t)
	policy := Policy{Base: time.Hour}
	clock.now = noon.Add(24 * time.Hour) // the clock is a day ahead
	fail(t, s, claimOne(t, s), transient, policy)
	fail(t, s, claimProject(t, s), transient, policy)
	wantDeclined(t, s, DeclinedBackoff)
	clock.now = noon.Add(24*time.Hour - clockSlack/2) // as clocks are corrected all the time
	wantDeclined(t, s, DeclinedBackoff)
	clock.now = noon // it was set back
	now, err := s.Status(t.Context())
	if must(t, err); len(now.Failed) != 2 || now.Failed[0].Next != nil || now.Failed[1].Next != nil {
		t.Errorf("status says %+v", now.Failed)
	}
	claimProject(t, s)
	if got := claim(t, s, claimOptions(9)); len(got) != 2 {
		t.Errorf("claimed %v", ids(got))
	}
}
