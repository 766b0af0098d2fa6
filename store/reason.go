package store

import (
	"strings"
	"time"

	"memoir"
)

// Window says which sessions a run takes. Its zero value takes all that are
// neither up to date nor excluded for good.
type Window struct {
	// Now is the moment that idle time and age are measured at. Delays and leases
	// go by Options.Now instead. Zero means Options.Now.
	Now time.Time
	// MinIdle is how long a session must have been left alone; 0: not at all.
	MinIdle time.Duration
	// MaxAge is how long ago a session may have ended; 0: at any time.
	MaxAge time.Duration
	// ActiveFor is how long after its last record a session counts as still going
	// on; 0: it never does.
	ActiveFor time.Duration
	// Keys and Projects restrict the run to these sessions, and to sessions of these
	// projects; empty: no restriction.
	Keys     []string
	Projects []string
	// Without leaves out sessions of these projects, and WithoutKeys these sessions.
	Without     []string
	WithoutKeys []string
	// ExcludeKey is a session that goes on now, whatever its times say.
	ExcludeKey string
	// IncludeAutomation takes sessions that a script drove, too.
	IncludeAutomation bool
	// Cap is how many sessions the run takes; 0: all. Only RefreshReasons uses it.
	Cap int
}

// facts are what a reason depends on, apart from the window.
type facts struct {
	key                    string
	kind                   memoir.SessionKind
	forgotten, disabled    bool
	unreadable, hasProject bool
	current                bool          // this version is extracted
	dead                   bool          // this version was given up
	updated                int64         // ms
	nextAttempt            int64         // ms
	failedAt               int64         // ms; when nextAttempt was set
	suspect                bool          // a process died while working on it
	reason                 memoir.Reason // as stored
}

// factColumns and factTables are the SQL side of facts.
const (
	factColumns = `s.key, s.kind, coalesce(m.forgotten, 0), coalesce(m.disabled OR m.excluded, 0), s.error <> '', s.project_id IS NOT NULL,
		coalesce(j.done_version = s.version, 0), coalesce(j.status = 'dead' AND j.input_version = s.version, 0),
		s.updated_at, coalesce(j.next_attempt_at, 0), coalesce(j.finished_at, 0), coalesce(j.crashes, 0) > 0, s.reason`
	factTables = `session s LEFT JOIN job j ON j.kind = 'extract' AND j.key = s.key LEFT JOIN mark m ON m.session_key = s.key`
)

func (f *facts) fields() []any {
	return []any{&f.key, &f.kind, &f.forgotten, &f.disabled, &f.unreadable, &f.hasProject,
		&f.current, &f.dead, &f.updated, &f.nextAttempt, &f.failedAt, &f.suspect, &f.reason}
}

// reason is what becomes of a session in a window, and why: the first that
// applies in the order of memoir.Reasons. The clock is the queue's. A cap is a
// matter of the sessions before it, and RefreshReasons adds it.
func (w Window) reason(f facts, clock time.Time) memoir.Reason {
	now := w.Now
	if now.IsZero() {
		now = clock
	}
	since := millis(now) - f.updated // a session may claim any year: too far for a Duration
	switch {
	case f.kind == memoir.KindSubagent:
		return memoir.ReasonSubagent
	case f.kind == memoir.KindAutomation && !w.IncludeAutomation:
		return memoir.ReasonAutomation
	case f.kind == memoir.KindOwnRun:
		return memoir.ReasonOwnRun
	case f.forgotten:
		return memoir.ReasonForgotten
	case f.disabled:
		return memoir.ReasonDisabled
	case f.unreadable:
		return memoir.ReasonUnreadable
	case !f.hasProject:
		return memoir.ReasonNoProject
	case f.current:
		return memoir.ReasonUpToDate
	case w.ExcludeKey != "" && f.key == w.ExcludeKey, w.ActiveFor > 0 && since < w.ActiveFor.Milliseconds():
		return memoir.ReasonActive
	case w.MinIdle > 0 && since < w.MinIdle.Milliseconds():
		return memoir.ReasonTooRecent
	case w.MaxAge > 0 && since > w.MaxAge.Milliseconds():
		return memoir.ReasonTooOld
	case waits(f.nextAttempt, f.failedAt, clock):
		return memoir.ReasonBackoff
	case f.dead:
		return memoir.ReasonDead
	}
	return memoir.ReasonEligible
}

// clockSlack is by how much the clock may be set back without putting delays in doubt.
const clockSlack = time.Minute

// waits reports whether a job that failed waits for its next attempt, both in ms. A
// failure that lies in the future was entered by a clock that has been set back since:
// the delay that began with it would last until the clock is there again.
func waits(next, failed int64, clock time.Time) bool {
	return next > millis(clock) && failed <= millis(clock.Add(clockSlack))
}

// isOpen selects the sessions whose reason may change with time or window alone;
// the reasons of the others change only with what is stored, and whatever changes
// that calls settle. It is the condition of the index session_open. Sessions of
// kind automation are closed as well unless the window includes them.
const isOpen = `s.reason NOT IN ('subagent', 'own_run', 'forgotten', 'disabled', 'unreadable', 'no_project', 'up_to_date')`

// restriction is the part of a WHERE clause that keeps to the window's sessions.
func (w Window) restriction() (clause string, args []any) {
	var b strings.Builder
	if len(w.Keys) > 0 {
		b.WriteString(` AND s.key IN (SELECT value FROM json_each(?))`)
		args = append(args, jsonList(w.Keys))
	}
	if len(w.Projects) > 0 {
		b.WriteString(` AND s.project_id IN (SELECT value FROM json_each(?))`)
		args = append(args, jsonList(w.Projects))
	}
	if len(w.Without) > 0 {
		b.WriteString(` AND s.project_id NOT IN (SELECT value FROM json_each(?))`)
		args = append(args, jsonList(w.Without))
	}
	if len(w.WithoutKeys) > 0 {
		b.WriteString(` AND s.key NOT IN (SELECT value FROM json_each(?))`)
		args = append(args, jsonList(w.WithoutKeys))
	}
	return b.String(), args
}

// openIn is isOpen together with what the window adds.
func (w Window) openIn() (clause string, args []any) {
	clause, args = w.restriction()
	if !w.IncludeAutomation {
		clause = ` AND (s.kind <> 'automation' OR s.reason <> 'automation')` + clause
	}
	return isOpen + clause, args
}
