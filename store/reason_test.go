package store

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"memoir"
)

func TestASessionHasTheFirstReasonThatApplies(t *testing.T) {
	t.Parallel()
	window := Window{Now: noon, MinIdle: 12 * time.Hour, MaxAge: 30 * 24 * time.Hour, ActiveFor: 10 * time.Minute, Starting: "now"}
	ago := func(d time.Duration) int64 { return millis(noon.Add(-d)) }
	day := facts{key: "codex:a", kind: memoir.KindMain, hasProject: true, updated: ago(24 * time.Hour)}
	with := func(change func(*facts)) facts { f := day; change(&f); return f }
	tests := []struct {
		name string
		f    facts
		want memoir.Reason
	}{
		{"everything is well", day, memoir.ReasonEligible},
		{"a sub-agent's, whatever else", with(func(f *facts) { f.kind, f.forgotten, f.unreadable = memoir.KindSubagent, true, true }), memoir.ReasonSubagent},
		{"driven by a script", with(func(f *facts) { f.kind, f.disabled = memoir.KindAutomation, true }), memoir.ReasonAutomation},
		{"our own", with(func(f *facts) { f.kind, f.current = memoir.KindOwnRun, true }), memoir.ReasonOwnRun},
		{"forgotten and disabled", with(func(f *facts) { f.forgotten, f.disabled = true, true }), memoir.ReasonForgotten},
		{"disabled and unreadable", with(func(f *facts) { f.disabled, f.unreadable = true, true }), memoir.ReasonDisabled},
		{"unreadable and without a project", with(func(f *facts) { f.unreadable, f.hasProject = true, false }), memoir.ReasonUnreadable},
		{"without a project, extracted before", with(func(f *facts) { f.hasProject, f.current = false, true }), memoir.ReasonNoProject},
		{"extracted, and active a minute ago", with(func(f *facts) { f.current, f.updated = true, ago(time.Minute) }), memoir.ReasonUpToDate},
		{"active just inside the limit", with(func(f *facts) { f.updated = ago(10*time.Minute - time.Millisecond) }), memoir.ReasonActive},
		{"no longer active at the limit", with(func(f *facts) { f.updated = ago(10 * time.Minute) }), memoir.ReasonTooRecent},
		{"named as going on now", with(func(f *facts) { f.key = "codex:now" }), memoir.ReasonActive},
		{"of a clock that is a little ahead", with(func(f *facts) { f.updated = ago(-time.Minute) }), memoir.ReasonActive},
		{"of a clock that was an hour ahead", with(func(f *facts) { f.updated = ago(-time.Hour) }), memoir.ReasonTooRecent},
		{"from the year 9999", with(func(f *facts) { f.updated = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() }), memoir.ReasonEligible},
		{"idle just short of the limit", with(func(f *facts) { f.updated = ago(12*time.Hour - time.Millisecond) }), memoir.ReasonTooRecent},
		{"idle for exactly the limit", with(func(f *facts) { f.updated = ago(12 * time.Hour) }), memoir.ReasonEligible},
		{"of exactly the greatest age", with(func(f *facts) { f.updated = ago(30 * 24 * time.Hour) }), memoir.ReasonEligible},
		{"just past the greatest age", with(func(f *facts) { f.updated = ago(30*24*time.Hour + time.Millisecond) }), memoir.ReasonTooOld},
		{"from the year 1", with(func(f *facts) { f.updated = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli() }), memoir.ReasonTooOld},
		{"waiting for its next attempt", with(func(f *facts) { f.nextAttempt = millis(noon) + 1 }), memoir.ReasonBackoff},
		{"at the time of its next attempt", with(func(f *facts) { f.nextAttempt = millis(noon) }), memoir.ReasonEligible},
		{"given up", with(func(f *facts) { f.dead = true }), memoir.ReasonDead},
	}
	for _, tt := range tests {
		got := window.reason(tt.f, noon)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestWhatARunReadsAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reader, by string // of the run, and what read the session
		want       bool
	}{
		{"builtin/2", "builtin/2", false}, {"builtin/2", "builtin/1", true}, {"builtin/2", "builtin", true},
		{"builtin/2", "x/y", false}, {"builtin/2", "", false}, // it has no file
		{"x/z", "builtin/2", true}, {"x/z", "x/y", true}, {"x/z", "x/z", false}, {"x/z", "", false},
		{"", "builtin", false}, {"", "x/y", false},
	} {
		if got := (Window{Reader: tt.reader}).Outdated(tt.by); got != tt.want {
			t.Errorf("%q of %q: %v", tt.reader, tt.by, got)
		}
	}
}

func refresh(t *testing.T, s *Store, w Window) map[memoir.Reason]int {
	t.Helper()
	counts, err := s.RefreshReasons(t.Context(), w)
	must(t, err)
	return counts
}

func wantCounts(t *testing.T, got, want map[memoir.Reason]int) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Fatalf("reasons %v, want %v", got, want)
	}
}

var dayAndMonth = Window{MinIdle: 12 * time.Hour, MaxAge: 30 * 24 * time.Hour, ActiveFor: 10 * time.Minute}

func TestRefreshingGivesEverySessionItsReason(t *testing.T) {
	t.Parallel()
	s, clock := newStore(t)
	register(t, s, project)
	scan(t, s,
		session("sub", func(se *memoir.Session) { se.Kind = memoir.KindSubagent }),
		session("script", func(se *memoir.Session) { se.Kind = memoir.KindAutomation }),
		session("own", func(se *memoir.Session) { se.Kind = memoir.KindOwnRun }),
		session("broken", func(se *memoir.Session) { se.Error = "not a session of any known agent" }),
		session("homeless", func(se *memoir.Session) { se.ProjectID = "" }),
		session("going", ended(time.Minute)),
		session("fresh", ended(time.Hour)),
		session("old", ended(31*24*time.Hour)),
		session("a", ended(20*time.Hour)), session("b", ended(21*time.Hour)), session("c", ended(22*time.Hour)),
	)
	must(t, s.SetDisabled(t.Context(), "codex:c", true))
	w := dayAndMonth
	w.Cap = 1
	wantCounts(t, refresh(t, s, w), map[memoir.Reason]int{
		"subagent": 1, "automation": 1, "own_run": 1, "unreadable": 1, "no_project": 1, "active": 1, "too_recent": 1,
		"too_old": 1, "disabled": 1, "eligible": 1, "over_cap": 1,
	})
	for id, want := range map[string]memoir.Reason{
		"sub": "subagent", "script": "automation", "own": "own_run", "broken": "unreadable", "homeless": "no_project",
		"going": "active", "fresh": "too_recent", "old": "too_old", "a": "eligible", "b": "over_cap", "c": "disabled",
	} {
		if got := reasonOf(t, s, id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}

	// A failure's delay is the queue's clock; eligibility is the window's.
	fail(t, s, claimOne(t, s), Failure{Message: "timeout", Transient: true}, Policy{Base: time.Hour})
	w.Now = noon.Add(12 * time.Hour)
	clock.advance(time.Minute)
	wantCounts(t, refresh(t, s, w), map[memoir.Reason]int{
		"subagent": 1, "automation": 1, "own_run": 1, "unreadable": 1, "no_project": 1, "backoff": 1,
		"too_old": 1, "disabled": 1, "eligible": 1, "over_cap": 2,
	})
}

func TestEligibleSessionsPastTheCapAreOverCapAndSuspectsComeLast(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 4)
	o := claimOptions(1)
	o.Holder = deadHolder()
	claim(t, s, o) // s00
	giveBack(t, s, claimSuspects(t, s)...)
	wantCounts(t, refresh(t, s, Window{Cap: 3}), map[memoir.Reason]int{"eligible": 3, "over_cap": 1})
	if got := reasonOf(t, s, "s00"); got != memoir.ReasonOverCap {
		t.Errorf("the latest session, over which a process died, is %s", got)
	}
	wantCounts(t, refresh(t, s, Window{}), map[memoir.Reason]int{"eligible": 4})
}

func TestARestrictionCountsAndJudgesOnlyItsSessions(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 3)
	register(t, s, other)
	scan(t, s, session("x", theirs))
	wantCounts(t, refresh(t, s, Window{Projects: []string{other}, MaxAge: time.Hour}), map[memoir.Reason]int{"too_old": 1})
	wantCounts(t, refresh(t, s, Window{Keys: []string{"codex:s01", "codex:s02", "codex:none"}, Cap: 1}), map[memoir.Reason]int{"eligible": 1, "over_cap": 1})
	wantCounts(t, refresh(t, s, Window{}), map[memoir.Reason]int{"eligible": 4})
}

func TestAutomationComesAndGoesWithItsSetting(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	scan(t, s, session("script", func(se *memoir.Session) { se.Kind = memoir.KindAutomation }))
	for _, include := range []bool{false, true, true, false} {
		want := memoir.ReasonAutomation
		if include {
			want = memoir.ReasonEligible
		}
		wantCounts(t, refresh(t, s, Window{IncludeAutomation: include}), map[memoir.Reason]int{want: 1})
	}
	o := claimOptions(9)
	wantIDs(t, claim(t, s, o))
	o.Window.IncludeAutomation = true
	wantIDs(t, claim(t, s, o), "script")
}

func TestRefreshingWritesNothingWhenNothingChanges(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 3)
	first := refresh(t, s, dayAndMonth)
	reader := openAt(t, s.Path(), Options{ReadOnly: true, Now: clock.Now})
	wantCounts(t, refresh(t, reader, dayAndMonth), first) // would fail if it had to write
}

// What is closed is never judged again until something stored changes: every way
// in which it can change must be noticed.
func TestTheReasonThatIsStoredFollowsWhatChanges(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	ctx := t.Context()
	want := func(what string, reason memoir.Reason) {
		t.Helper()
		if got := reasonOf(t, s, "s00"); got != reason {
			t.Fatalf("%s: %s, want %s", what, got, reason)
		}
		for got := range refresh(t, s, Window{}) {
			if got != reason {
				t.Fatalf("%s: refreshing made it %s", what, got)
			}
		}
	}
	want("scanned", "eligible")
	must(t, s.SetDisabled(ctx, "codex:s00", true))
	want("disabled", "disabled")
	must(t, s.SetDisabled(ctx, "codex:s00", false))
	want("enabled", "eligible")
	must(t, s.StoreExtraction(ctx, claimOne(t, s), worth("a")))
	want("extracted", "up_to_date")
	scan(t, s, session("s00", grown))
	want("grown", "eligible")
	must(t, s.MarkUnchanged(ctx, claimOne(t, s), "h", Result{}))
	want("unchanged", "up_to_date")
	scan(t, s, session("s00", func(se *memoir.Session) { se.Error = "permission denied" }))
	want("broken", "unreadable")
	scan(t, s, session("s00", func(se *memoir.Session) { se.ProjectID = "" }))
	want("homeless", "no_project")
	scan(t, s, session("s00"))
	want("at home again", "eligible")
	scan(t, s, session("s00", func(se *memoir.Session) { se.Kind = memoir.KindSubagent }))
	want("known to be a sub-agent", "subagent")
	scan(t, s, session("s00"))
	fail(t, s, claimOne(t, s), Failure{Message: "no"}, Policy{})
	want("failed for good", "dead")
	if n, err := s.Retry(ctx); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	want("revived", "eligible")
	forget(t, s, "codex:s00")
	want("forgotten", "forgotten")
}

// TestSessionsAreReadInTheOrderOfAnIndex wants no sorting of all open sessions for claims and refreshes, nor of all
// with a reason for a page of them.
func TestSessionsAreReadInTheOrderOfAnIndex(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	open, args := Window{}.openIn()
	where, filtered := Filter{Reason: memoir.ReasonUpToDate, Source: memoir.SourceCodex, Since: s.now()}.where()
	for index, query := range map[string]struct {
		text string
		args []any
	}{
		"session_open":   {`SELECT ` + factColumns + ` FROM ` + factTables + ` WHERE ` + open, args},
		"session_reason": {`SELECT ` + sessionColumns + ` FROM session s WHERE 1` + where, filtered},
	} {
		must(t, s.read(t.Context(), func(tx tx) {
			var plan strings.Builder
			for scan := range tx.rows(`EXPLAIN QUERY PLAN `+query.text+` ORDER BY s.updated_at DESC, s.key`, query.args...) {
				var a, b, c int
				var detail string
				scan(&a, &b, &c, &detail)
				fmt.Fprintln(&plan, detail)
			}
			if !strings.Contains(plan.String(), index) || strings.Contains(plan.String(), "TEMP B-TREE") {
				t.Errorf("plan:\n%s", plan.String())
			}
		}))
	}
}
