package store

import (
	"testing"
	"time"

	"memoir"
)

func TestASessionHasTheFirstReasonThatApplies(t *testing.T) {
	t.Parallel()
	window := Window{Now: noon, MinIdle: 12 * time.Hour, MaxAge: 30 * 24 * time.Hour, ActiveFor: 10 * time.Minute, ExcludeKey: "codex:now"}
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
		{"from the future", with(func(f *facts) { f.updated = ago(-time.Hour) }), memoir.ReasonActive},
		{"from the year 9999", with(func(f *facts) { f.updated = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() }), memoir.ReasonActive},
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
