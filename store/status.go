package store

import (
	"context"
	"time"

	"memoir"
	"memoir/lease"
)

// Status is the state of the queue.
type Status struct {
	Jobs       map[string]int        // by status, of both kinds
	Reasons    map[memoir.Reason]int // of all sessions, as last refreshed
	Running    []RunningJob          // the oldest first
	Failed     []FailedJob           // to be tried again, the next first
	Dead       []FailedJob           // dead, by kind and key
	Entries    map[string]int        // by kind, without forgotten and disabled ones
	Redactions map[string]int        // number of redactions in stored texts, by rule
	Usage      memoir.Usage          // of all calls in the ledger
}

// RunningJob is a job that a process has claimed.
type RunningJob struct {
	Kind   string // "extract" or "consolidate"
	Key    string // a session's key, or a project's id
	Title  string // of the session, redacted
	Holder lease.Holder
	Since  time.Time
	Until  time.Time // end of the lease
	Stale  bool      // its holder is dead or its lease has expired: the next claim releases it
}

// FailedJob is a job that failed or crashed.
type FailedJob struct {
	Kind     string     `json:"kind"`
	Key      string     `json:"session"` // a session's key; project id if kind is consolidate
	Error    string     `json:"error"`
	Attempts int        `json:"attempts"`
	Crashes  int        `json:"crashes"`
	Next     *time.Time `json:"next"`    // of the next attempt, in UTC; nil: at once, or never for a dead job
	Title    string     `json:"title"`   // of the session
	Suspect  bool       `json:"suspect"` // it crashed and is not dead: it is tried last and alone
	Model    string     `json:"model"`   // that failed; empty: unknown, or none did
}

// jobTitle is the title of a job's session, as Entitle gives it.
const jobTitle = `CASE job.kind WHEN 'extract' THEN coalesce(
	(SELECT title FROM extraction WHERE session_key = job.key AND title <> ''),
	(SELECT title FROM session WHERE session.key = job.key), '') ELSE '' END`

// Status returns the state of the queue, read from one snapshot.
func (s *Store) Status(ctx context.Context) (Status, error) {
	st := Status{Jobs: map[string]int{}, Reasons: map[memoir.Reason]int{}, Redactions: map[string]int{},
		Entries: map[string]int{}, Failed: []FailedJob{}, Dead: []FailedJob{}}
	now := s.ticks()
	err := s.read(ctx, func(t tx) {
		fill(t, st.Jobs, `SELECT status, count(*) FROM job GROUP BY status`)
		fill(t, st.Reasons, `SELECT reason, count(*) FROM session WHERE kind <> 'entry' GROUP BY reason`)
		fill(t, st.Entries, `SELECT n.kind, count(*) FROM entry n JOIN session s ON s.key = n.session_key
			WHERE s.reason = 'up_to_date' GROUP BY n.kind`)
		fill(t, st.Entries, `SELECT 'unconfirmed', count(*) FROM entry n JOIN session s ON s.key = n.session_key
			WHERE s.reason = 'up_to_date' AND n.kind = 'note' AND n.author <> 'user' HAVING count(*) > 0`)
		fill(t, st.Redactions, `SELECT rule, sum(n) FROM redaction GROUP BY rule`)
		st.Running = collect(t, func(scan scanner, j *RunningJob) {
			var l lease.Lease
			scan(&j.Kind, &j.Key, &j.Title, &l.Owner, holderColumn{&l.Holder}, timeColumn{&j.Since}, timeColumn{&l.Until})
			j.Holder, j.Until, j.Stale = l.Holder, l.Until, l.Free(now)
		}, `SELECT kind, key, `+jobTitle+`, owner, holder, started_at, lease_until FROM job
			INDEXED BY job_running WHERE status = 'running' ORDER BY started_at, kind, key`)
		st.Usage = s.spent(t, "", time.Time{})
		for scan := range t.rows(`SELECT status, kind, key, ` + jobTitle + `, last_error, model, attempts, crashes,
			next_attempt_at, finished_at FROM job
			WHERE status IN ('error', 'dead') OR status = 'pending' AND crashes > 0 ORDER BY next_attempt_at, kind, key`) {
			var j FailedJob
			var status string
			var next, failed int64
			scan(&status, &j.Kind, &j.Key, &j.Title, &j.Error, &j.Model, &j.Attempts, &j.Crashes, &next, &failed)
			if now := s.now(); next != 0 && (next <= millis(now) || waits(next, failed, now)) {
				j.Next = new(unixMillis(next))
			}
			if j.Suspect = j.Crashes > 0 && status != "dead"; status == "dead" {
				st.Dead = append(st.Dead, j)
			} else {
				st.Failed = append(st.Failed, j)
			}
		}
	})
	return st, s.explain(err, "reading the state of the queue")
}

// Failure returns why the consolidation of a project failed last, and is tried again or dead; empty if it did not.
func (s *Store) Failure(ctx context.Context, projectID string) (string, error) {
	return fetch(ctx, s, func(t tx) (why string) {
		t.find(`SELECT last_error FROM job WHERE kind = 'consolidate' AND key = ?
			AND (status IN ('error', 'dead') OR status = 'pending' AND crashes > 0)`, []any{projectID}, &why)
		return why
	}, "reading the state of a project")
}

// RunOutcome says how a run ended.
type RunOutcome string

// The outcomes of runs.
const (
	RunDone        RunOutcome = "done"
	RunPartly      RunOutcome = "partly"      // something failed, or a limit stopped it
	RunBusy        RunOutcome = "busy"        // another process worked on the same jobs
	RunFailed      RunOutcome = "failed"      // an error ended it
	RunInterrupted RunOutcome = "interrupted" // by a signal or its time limit
)

// RunEnd is how a run ended. Its texts are redacted.
type RunEnd struct {
	Outcome RunOutcome
	Reason  string // why it did not complete, or what a completed one left out; may be empty
	Hint    string // what a person can do about that; may be empty
}

// RunRow is the run that began last.
type RunRow struct {
	ID     string // as in the ledger
	Holder lease.Holder
	Began  time.Time
	Ended  time.Time // zero: it is under way, or its process crashed
	RunEnd
}

// BeginRun records the start of a run instead of the one before. It waits for the database for at most a second.
func (s *Store) BeginRun(ctx context.Context, id string, holder lease.Holder) error {
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	return s.explain(s.quickly(ctx, func(t tx) {
		t.exec(`DELETE FROM run`)
		t.exec(`INSERT INTO run (run, holder, began_at) VALUES (?, ?, ?)`, id, holder.String(), millis(s.now()))
	}), "recording the start of a run")
}

// EndRun records the end of a run, unless another has begun since. Like Release, it also works if ctx has ended, for
// at most a second.
func (s *Store) EndRun(ctx context.Context, id string, end RunEnd) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	return s.explain(s.quickly(ctx, func(t tx) {
		t.exec(`UPDATE run SET ended_at = ?, outcome = ?, reason = ?, hint = ? WHERE run = ?`,
			millis(s.now()), string(end.Outcome), end.Reason, end.Hint, id)
	}), "recording the end of a run")
}

// LastRun returns the run that began last; the zero value if there is none.
func (s *Store) LastRun(ctx context.Context) (RunRow, error) {
	return fetch(ctx, s, func(t tx) (r RunRow) {
		t.find(`SELECT run, holder, began_at, ended_at, outcome, reason, hint FROM run ORDER BY id DESC LIMIT 1`, nil,
			&r.ID, holderColumn{&r.Holder}, timeColumn{&r.Began}, timeColumn{&r.Ended}, &r.Outcome, &r.Reason, &r.Hint)
		return r
	}, "reading the last run")
}
