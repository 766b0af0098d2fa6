package store

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"memoir"
)

// Window says which sessions are eligible in a run. In its zero value, times do not matter.
type Window struct {
	// Now is the time from which idle time and age are measured; zero means Options.Now. Delays
	// and leases always use Options.Now.
	Now time.Time
	// MinIdle is the shortest time since the last change of a session; 0: no limit.
	MinIdle time.Duration
	// MaxAge is the longest time since the last change of a session; 0: no limit.
	MaxAge time.Duration
	// ActiveFor is how long after its last record a session counts as active; 0: never.
	ActiveFor time.Duration
	// Keys and Projects restrict the run to these sessions, and to sessions of these
	// projects; empty: no restriction.
	Keys     []string
	Projects []string
	// Starting is the key or the id of a session that is active whatever its times say.
	Starting string
	// IncludeAutomation includes sessions that a script started.
	IncludeAutomation bool
	// Cap is the most sessions that the run takes; 0: no cap. RefreshReasons and Foresee use it.
	Cap int
	// Reader reads again, if it is not empty, what earlier versions of the built-in model read; a language model also
	// what any other model read.
	Reader string
}

// Outdated reports whether the run is to read again what a reader read.
func (w Window) Outdated(reader string) bool {
	builtin := func(reader string) bool { return strings.HasPrefix(reader+"/", "builtin/") }
	return w.Reader != "" && reader != "" && reader != w.Reader && (builtin(reader) || !builtin(w.Reader))
}

// facts are the properties of a session on which its reason depends, apart from the window.
type facts struct {
	key, version           string
	kind                   memoir.SessionKind
	forgotten, disabled    bool
	unreadable, hasProject bool
	current                bool          // this version is extracted, or it is an entry
	reader                 string        // what read it last; empty if it has no file to read again
	dead                   bool          // the job of this version is dead
	updated                int64         // ms
	nextAttempt            int64         // ms
	failedAt               int64         // ms; when nextAttempt was set
	suspect                bool          // its extraction crashed
	reason                 memoir.Reason // as stored
}

// factColumns and factTables select facts. The reader of a session stands behind its content hash.
const (
	reader = `iif(instr(j.done_hash, '@') AND EXISTS (SELECT 1 FROM file WHERE session_key = s.key),
		substr(j.done_hash, instr(j.done_hash, '@') + 1), '')`
	factColumns = `s.key, s.version, s.kind, coalesce(m.forgotten, 0), coalesce(m.disabled OR m.directory <> '', 0),
		s.error <> '', s.project_id IS NOT NULL,
		s.kind = 'entry' OR coalesce(j.done_version = s.version, 0), ` + reader + `,
		coalesce(j.status = 'dead' AND j.input_version = s.version, 0),
		s.updated_at, coalesce(j.next_attempt_at, 0), coalesce(j.finished_at, 0), coalesce(j.crashes, 0) > 0, s.reason`
	factTables = `session s LEFT JOIN job j ON j.kind = 'extract' AND j.key = s.key
		LEFT JOIN mark m ON m.session_key = s.key`
)

func (f *facts) fields() []any {
	return []any{&f.key, &f.version, &f.kind, &f.forgotten, &f.disabled, &f.unreadable, &f.hasProject,
		&f.current, &f.reader, &f.dead, &f.updated, &f.nextAttempt, &f.failedAt, &f.suspect, &f.reason}
}

// reason returns the first reason of memoir.Reasons that applies to a session in a window. clock is the time
// of the queue. Whether a session is over the cap depends on the others; judge decides it.
func (w Window) reason(f facts, clock time.Time) memoir.Reason {
	since := millis(cmp.Or(w.Now, clock)) - f.updated // a session may claim any year: too far for a Duration
	idle := max(since, -since)                        // a time in the future is of a clock that was ahead
	_, id := memoir.SplitKey(f.key)
	if f.current { // it was within the limits of time when it was extracted
		w.Starting, w.ActiveFor, w.MinIdle, w.MaxAge = "", 0, 0, 0
	}
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
	case f.current && !w.Outdated(f.reader):
		return memoir.ReasonUpToDate
	case w.Starting != "" && slices.Contains([]string{f.key, id}, w.Starting), idle < w.ActiveFor.Milliseconds():
		return memoir.ReasonActive
	case idle < w.MinIdle.Milliseconds():
		return memoir.ReasonTooRecent
	case w.MaxAge > 0 && since > w.MaxAge.Milliseconds():
		return memoir.ReasonTooOld
	case waits(f.nextAttempt, f.failedAt, clock):
		return memoir.ReasonBackoff
	case f.dead:
		return memoir.ReasonDead
	case f.current:
		return memoir.ReasonOutdated
	}
	return memoir.ReasonEligible
}

// isOpen selects the sessions whose reason may change with time or window alone. The reasons of the others
// change only with stored facts, and each method that changes these calls settle. isOpen is the condition of
// the index session_open. openIn leaves out sessions of kind automation as well unless the window
// includes them.
const isOpen = `s.reason NOT IN (` +
	`'subagent', 'own_run', 'forgotten', 'disabled', 'unreadable', 'no_project', 'up_to_date')`

// isStale selects the sessions that may be outdated though they are not open.
const isStale = `s.reason = 'up_to_date' AND s.key IN (SELECT key FROM job WHERE kind = 'extract' AND done_version <> ''
	AND instr(done_hash, '@') AND substr(done_hash, -length(?)) <> ?)`

// restriction is the part of a WHERE clause that selects the window's sessions.
func (w Window) restriction() (clause string, args []any) {
	return and(condition{`s.key IN (SELECT value FROM json_each(?))`, len(w.Keys) > 0, jsonList(w.Keys)},
		condition{`s.project_id IN (SELECT value FROM json_each(?))`, len(w.Projects) > 0, jsonList(w.Projects)})
}

// openIn selects the open sessions of the window, whose reasons must be computed.
func (w Window) openIn() (clause string, args []any) {
	clause = isOpen
	if !w.IncludeAutomation {
		clause += ` AND (s.kind <> 'automation' OR s.reason <> 'automation')`
	}
	within, args := w.restriction()
	return clause + within, args
}

// RefreshReasons updates the reason of every session in the window and counts them. Sessions past w.Cap in the order
// of claims (newest first, outdated ones after that, crashed ones last) get the reason over_cap. If no reason
// changed, nothing is written.
func (s *Store) RefreshReasons(ctx context.Context, w Window) (map[memoir.Reason]int, error) {
	d, err := s.judge(ctx, w)
	if err != nil || len(d.changes) == 0 {
		return d.counts, err
	}
	err = s.quickly(ctx, func(t tx) {
		for _, c := range d.changes {
			// Another process may have changed the reason since it was read.
			t.exec(`UPDATE session SET reason = ? WHERE key IN (SELECT value FROM json_each(?)) AND reason = ?`,
				string(c.to), jsonList(c.keys), string(c.from))
		}
	})
	return d.counts, s.explain(err, "recording eligible sessions")
}

// Foresee computes the reasons as RefreshReasons does, without writing: the number of sessions by reason,
// and the keys of eligible sessions in the order of claims. eligible leaves out sessions that a living
// process works on.
func (s *Store) Foresee(ctx context.Context, w Window) (counts map[memoir.Reason]int, eligible []string, err error) {
	d, err := s.judge(ctx, w)
	return d.counts, d.eligible, err
}

// reasonChange is a change of reason and the sessions that it applies to.
type reasonChange struct {
	from, to memoir.Reason
	keys     []string
}

type judgement struct {
	window   Window
	held     map[string]bool // sessions with a valid claim
	taken    int             // eligible sessions so far
	counts   map[memoir.Reason]int
	changes  []reasonChange
	eligible []string // without a valid claim
}

// decide enters a session with its reason in the window, and applies the cap.
func (d *judgement) decide(f facts, reason memoir.Reason) {
	if claimable(reason) {
		if d.taken++; d.window.Cap > 0 && d.taken > d.window.Cap {
			reason = memoir.ReasonOverCap
		} else if !d.held[f.key] {
			d.eligible = append(d.eligible, f.key)
		}
	}
	if reason == f.reason {
		return
	}
	i := slices.IndexFunc(d.changes, func(c reasonChange) bool { return c.from == f.reason && c.to == reason })
	if i < 0 {
		i = len(d.changes)
		d.changes = append(d.changes, reasonChange{from: f.reason, to: reason})
	}
	d.changes[i].keys = append(d.changes[i].keys, f.key)
	d.counts[f.reason]--
	d.counts[reason]++
}

// judge computes the reasons of all sessions of a window on one snapshot.
func (s *Store) judge(ctx context.Context, w Window) (judgement, error) {
	return fetch(ctx, s, func(t tx) judgement {
		d := judgement{window: w, held: map[string]bool{}, counts: map[memoir.Reason]int{}}
		for _, j := range runningJobs(t, kindExtract) {
			d.held[j.key] = !j.Free(s.ticks())
		}
		within, only := w.restriction()
		fill(t, d.counts, `SELECT s.reason, count(*) FROM session s WHERE s.kind <> 'entry'`+within+
			` GROUP BY s.reason`, only...)
		var outdated, suspects []facts
		where, args := w.openIn()
		if w.Reader != "" {
			where, args = `(`+where+` OR `+isStale+within+`)`, append(args, append([]any{w.Reader, w.Reader}, only...)...)
		}
		for f, reason := range w.facts(t, where+` ORDER BY s.updated_at DESC, s.key`, args, s.now()) {
			switch {
			case claimable(reason) && f.suspect:
				suspects = append(suspects, f)
			case reason == memoir.ReasonOutdated:
				outdated = append(outdated, f)
			default:
				d.decide(f, reason)
			}
		}
		for _, f := range append(outdated, suspects...) {
			d.decide(f, w.reason(f, s.now()))
		}
		maps.DeleteFunc(d.counts, func(_ memoir.Reason, n int) bool { return n == 0 })
		return d
	}, "finding eligible sessions")
}

// claimable reports whether a run extracts from the sessions with a reason.
func claimable(r memoir.Reason) bool { return r == memoir.ReasonEligible || r == memoir.ReasonOutdated }

// facts yields the sessions that a WHERE clause selects, with the reason of each in the window.
func (w Window) facts(t tx, where string, args []any, clock time.Time) iter.Seq2[facts, memoir.Reason] {
	return func(yield func(f facts, reason memoir.Reason) bool) {
		var f facts
		fields := f.fields()
		for scan := range t.rows(`SELECT `+factColumns+` FROM `+factTables+` WHERE `+where, args...) {
			if scan(fields...); !t.ok() || !yield(f, w.reason(f, clock)) {
				return
			}
		}
	}
}

// candidates returns the sessions to claim, in order. The time in the query only reduces the rows to read;
// Window.reason decides.
func (o ClaimOptions) candidates(t tx, clock time.Time, limit int) (found []facts) {
	w, oldest := o.Window, int64(math.MinInt64)
	if w.MaxAge > 0 {
		oldest = millis(cmp.Or(w.Now, clock).Add(-w.MaxAge))
	}
	open, args := w.openIn()
	where, order := open+` AND coalesce(j.status, '') <> 'running' AND `, `s.updated_at DESC, s.key`
	if o.Suspects {
		where += `s.key IN (SELECT key FROM job INDEXED BY job_suspect WHERE kind = 'extract' AND crashes > 0)`
		order = `j.crashes, ` + order
	} else {
		where += `coalesce(j.crashes, 0) = 0`
	}
	take := func(sessions iter.Seq2[facts, memoir.Reason]) {
		for f, reason := range sessions {
			if claimable(reason) {
				found = append(found, f)
			}
			if len(found) == limit {
				return
			}
		}
	}
	take(w.facts(t, where+` AND s.updated_at >= ? AND coalesce(j.done_version <> s.version, 1)
		ORDER BY `+order, append(args, oldest), clock))
	if w.Reader != "" && len(found) < limit { // RefreshReasons has opened the outdated ones
		take(w.facts(t, where+` AND j.done_version = s.version ORDER BY `+order, args, clock))
	}
	return found
}

// settle stores the reasons of registered sessions in the zero Window. A reason that depends on the window
// stays until RefreshReasons or settleIn computes it. Every method that changes a fact must call settle.
func (s *Store) settle(t tx, keys ...string) {
	for _, key := range keys {
		s.settleIn(t, Window{}, key)
	}
}

func (s *Store) settleIn(t tx, w Window, key string) {
	var f facts
	if !t.find(`SELECT `+factColumns+` FROM `+factTables+` WHERE s.key = ?`, []any{key}, f.fields()...) {
		return
	}
	reason := w.reason(f, s.now())
	ofWindow := []memoir.Reason{memoir.ReasonActive, memoir.ReasonTooRecent, memoir.ReasonTooOld, memoir.ReasonOverCap}
	if reason == f.reason || reason == memoir.ReasonEligible && slices.Contains(ofWindow, f.reason) {
		return
	}
	t.exec(`UPDATE session SET reason = ? WHERE key = ?`, string(reason), key)
	resendReplaced(t, key)
}
