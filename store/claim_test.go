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
	if c.Token == "" || c.Attempt != 1 || c.Crashes != 0 || c.DoneHash != "" || c.Prior != nil || c.InputVersion != Fingerprint(two) ||
		!c.StartedAt.Equal(noon) || !c.LeaseUntil.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("claim %+v", c)
	}
	must(t, s.StoreExtraction(t.Context(), c, worth("a")))
	scan(t, s, session("s00", grown))
	clock.advance(time.Hour)
	again := claimOne(t, s)
	if again.DoneHash != "hash of a" || again.DoneFilterVersion != 1 || again.Prior == nil || again.Prior.RawMemory != "a" || again.Token == c.Token {
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
		{"a session that goes on now", func(w *Window) { w.ExcludeKey = "codex:idle" }, []string{"theirs", "aged"}},
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
		must(t, s.GiveBack(t.Context(), claims))
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
			must(t, s.MarkUnchanged(t.Context(), c, "h", nil))
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
	s, _ := newQueue(t, 3)
	o := claimOptions(1)
	o.Holder = deadHolder()
	claim(t, s, o)
	wantIDs(t, claim(t, s, claimOptions(9)), "s01", "s02") // the poison does not hold up the queue
	o.Suspects = true
	for crashes := 1; crashes < 3; crashes++ {
		got := claim(t, s, o)
		if wantIDs(t, got, "s00"); got[0].Crashes != crashes {
			t.Fatalf("%d crashes, want %d", got[0].Crashes, crashes)
		}
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
	wantIDs(t, claimSuspects(t, s), "s00")
}

func TestSuspectsThatDiedLeastComeFirst(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 3)
	o := claimOptions(2)
	o.Holder = deadHolder()
	claim(t, s, o) // s00, s01
	o.Suspects, o.Limit = true, 1
	wantIDs(t, claim(t, s, o), "s00")
	wantIDs(t, claimSuspects(t, s), "s01")
	wantIDs(t, claimSuspects(t, s), "s00")
	wantIDs(t, claim(t, s, claimOptions(9)), "s02")
}

func TestASuspectThatProvesHarmlessIsClearedOfIt(t *testing.T) {
	t.Parallel()
	for name, finish := range map[string]func(*Store, Claim) error{
		"by success":       func(s *Store, c Claim) error { return s.StoreExtraction(background(), c, worth("a")) },
		"by being the old": func(s *Store, c Claim) error { return s.MarkUnchanged(background(), c, "h", nil) },
		"by a failure that it survived": func(s *Store, c Claim) error {
			return s.Fail(background(), c, Failure{Message: "timeout", Transient: true}, Policy{})
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
	must(t, s.GiveBack(cancelled(t), claims)) // interrupted: the context has ended
	if got := reasonOf(t, s, "s01"); got != memoir.ReasonUpToDate {
		t.Fatalf("a session that was done became %s", got)
	}
	again := claim(t, s, claimOptions(2))
	if wantIDs(t, again, "s00"); again[0].Attempt != 1 || again[0].Crashes != 0 {
		t.Fatalf("attempt %d, crashes %d", again[0].Attempt, again[0].Crashes)
	}
	must(t, s.GiveBack(t.Context(), claims)) // not ours any more: nothing happens
	wantIDs(t, claim(t, s, claimOptions(2)))
}

func TestExtendingKeepsClaimsAndNamesThoseThatAreLost(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 3)
	claims := claim(t, s, claimOptions(3))
	must(t, s.MarkUnchanged(t.Context(), claims[2], "h", nil))
	tokens := []string{claims[0].Token, claims[1].Token, claims[2].Token, "nobody's", ""}
	clock.advance(time.Minute)
	lost, err := s.ExtendClaims(t.Context(), tokens, clock.Now().Add(2*time.Minute))
	must(t, err)
	if !slices.Equal(lost, tokens[2:]) {
		t.Fatalf("lost %v, want %v", lost, tokens[2:])
	}
	clock.advance(90 * time.Second) // past the first lease, inside the second
	wantIDs(t, claimSuspects(t, s))

	// Expired, but nobody took it: the owner still is the owner.
	clock.advance(time.Hour)
	lost, err = s.ExtendClaims(t.Context(), tokens[:1], clock.Now().Add(time.Minute))
	if must(t, err); len(lost) != 0 {
		t.Fatalf("lost %v", lost)
	}
	wantIDs(t, claimSuspects(t, s), "s01")
	lost, err = s.ExtendClaims(t.Context(), tokens[:2], clock.Now().Add(time.Minute))
	if must(t, err); !slices.Equal(lost, tokens[1:2]) {
		t.Fatalf("lost %v, want what another took", lost)
	}
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
