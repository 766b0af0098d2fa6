package store

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/lease"
)

// ClaimOptions says what to claim and for whom.
type ClaimOptions struct {
	Holder     lease.Holder
	Lease      time.Duration // how long claims last unless extended
	Limit      int           // most sessions to claim
	RunningCap int           // most sessions that all processes extract at once; 0: no cap
	Window     Window
	// Suspects claims only sessions whose extraction crashed; without it, only others. A run tries
	// them last, one at a time.
	Suspects bool
}

// Claim is the right to extract one session. It is valid while the database has its token.
type Claim struct {
	Session           memoir.Session
	Token             string
	Attempt           int // from 1, of this version of the session
	Crashes           int
	InputVersion      string             // version of the session that is extracted now
	DoneHash          string             // content hash of the last extraction; empty if there was none
	DoneBy            string             // what read the session for it
	DoneFilterVersion int                // version of the filter that DoneHash was made with
	Prior             *memoir.Extraction // stored extraction of an earlier version, or nil
}

func (c Claim) job() job { return job{kindExtract, c.Session.Key(), c.Token} }

// ClaimSessions claims sessions that are eligible in the window, the latest first. Eligibility, the running
// cap and the claims are one transaction. It also releases jobs whose holder is dead or whose lease has
// expired, and counts a crash for each. It returns fewer claims than the limit, or none, if no more
// sessions are eligible or the cap is reached.
func (s *Store) ClaimSessions(ctx context.Context, o ClaimOptions) ([]Claim, error) {
	var claims []Claim
	err := s.quickly(ctx, func(t tx) {
		claims = nil
		running, limit := s.takeOver(t, kindExtract), o.Limit
		if o.RunningCap > 0 {
			limit = min(limit, o.RunningCap-running)
		}
		if limit <= 0 {
			return
		}
		if candidates := o.candidates(t, s.now(), limit); len(candidates) > 0 {
			t.fail(s.Room())
			claims = s.claimAll(t, candidates, o)
		}
	})
	return claims, s.explain(err, "claiming sessions")
}

func (s *Store) claimAll(t tx, candidates []facts, o ClaimOptions) []Claim {
	keys := memoir.Map(candidates, func(f facts) string { return f.key })
	sessions, priors := selectSessions(t, Filter{Keys: keys}), selectExtractions(t, keys...)
	if !t.ok() {
		return nil
	}
	claims := make([]Claim, len(candidates))
	for i, f := range candidates {
		c := Claim{Token: lease.NewToken(), InputVersion: f.version, DoneBy: f.reader}
		c.Session = sessions[slices.IndexFunc(sessions, func(se memoir.Session) bool { return se.Key() == f.key })]
		if at := slices.IndexFunc(priors, func(e memoir.Extraction) bool { return e.SessionKey == f.key }); at >= 0 {
			c.Prior = &priors[at]
		}
		g := s.claimJob(t, c.job(), terms{o.Holder, o.Lease, f.version, ownWork})
		c.Attempt, c.Crashes, c.DoneHash, c.DoneFilterVersion = g.attempt, g.crashes, g.doneHash, g.doneFilter
		claims[i] = c
	}
	return claims
}

// MarkUnchanged finishes a claim on a session whose files changed, but not the content that was already
// extracted. hash is its content hash; the texts and skipped records of r replace those of the earlier reading.
func (s *Store) MarkUnchanged(ctx context.Context, c Claim, hash string, r Result) error {
	key := c.Session.Key()
	return s.explain(s.owning(ctx, quick, c.job(), func(t tx) {
		putMessages(t, key, c.InputVersion, r.Messages, r.Tools)
		setSkipped(t, key, r.Skipped)
		s.finishSession(t, c, hash, c.DoneFilterVersion)
	}), "marking session %s as unchanged", key)
}

func (s *Store) finishSession(t tx, c Claim, hash string, filter int) {
	s.finish(t, c.job(), c.InputVersion, hash, filter)
	t.exec(endSaid, "", c.Session.Key())
	s.settle(t, c.Session.Key())
}

// LeaveUnread releases a claim on a session with a file that cannot be read; no attempt is counted. The
// session is unreadable until a scan can read it. The file at path gets modification time 0, so that the
// next scan reads it; so do all files of the session if none has this path. The error has the code
// memoir.CodeLeaseLost if the claim is no longer ours.
func (s *Store) LeaveUnread(ctx context.Context, c Claim, path, reason string) error {
	key := c.Session.Key()
	return s.explain(s.owning(ctx, quick, c.job(), func(t tx) {
		s.release(t, c.job())
		t.execAll([]any{reason, key, path}, `UPDATE session SET error = ?1 WHERE key = ?2`,
			`UPDATE file SET mtime_ns = 0, error = ?1 WHERE session_key = ?2
				AND (path = ?3 OR NOT EXISTS (SELECT 1 FROM file WHERE session_key = ?2 AND path = ?3))`)
		s.settle(t, key)
	}), "leaving session %s unread", key)
}

// Outstanding counts the sessions of a project that processes other than self are extracting now.
func (s *Store) Outstanding(ctx context.Context, projectID string, self lease.Holder) (int, error) {
	return fetch(ctx, s, func(t tx) (n int) {
		var others []string
		for _, j := range runningJobs(t, kindExtract) {
			if j.Holder != self && !j.Free(s.ticks()) {
				others = append(others, j.key)
			}
		}
		t.get(`SELECT count(*) FROM session WHERE project_id = ? AND key IN (SELECT value FROM json_each(?))`,
			[]any{projectID, jsonList(others)}, &n)
		return n
	}, "counting sessions that others extract")
}

// Working returns an error of code memoir.CodeBusy while another process holds a job, since that process
// may redact by older rules. Jobs of dead processes are released first. Then it ends the epoch.
func (s *Store) Working(ctx context.Context) error {
	err := s.quickly(ctx, func(t tx) {
		for _, kind := range []string{kindExtract, kindConsolidate} {
			if running := s.takeOver(t, kind); running > 0 {
				t.fail(memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait",
					"another process is at work on %s", memoir.Count(running, kind+" job")))
			}
		}
		t.exec(endEpoch)
	})
	if memoir.CodeOf(err) == memoir.CodeBusy {
		return err
	}
	return s.explain(err, "looking for running jobs")
}

const extractionColumns = `e.session_key, coalesce(e.project_id, ''), e.statements, e.rollout_summary, e.rollout_slug,
	e.title, e.cwd, e.branch, e.started_at, e.ended_at, e.content_hash, e.filter_version, e.model, e.seq,
	e.history_entry, coalesce((SELECT accessed_at FROM entry n WHERE n.session_key = e.session_key), 0)`

func scanExtraction(scan scanner, e *memoir.Extraction) {
	scan(&e.SessionKey, &e.ProjectID, statementColumn{&e.Statements}, &e.RolloutSummary, &e.RolloutSlug, &e.Title,
		&e.CWD, &e.Branch, timeColumn{&e.StartedAt}, timeColumn{&e.EndedAt}, &e.ContentHash, &e.FilterVersion, &e.Model,
		&e.Seq, &e.HistoryEntry, timeColumn{&e.RecalledAt})
	e.Identify()
}

func selectExtractions(t tx, keys ...string) []memoir.Extraction {
	return collect(t, scanExtraction, `SELECT `+extractionColumns+` FROM extraction e
		WHERE e.session_key IN (SELECT value FROM json_each(?))`, jsonList(keys))
}

// Selected returns the extractions of a project whose sessions are neither disabled nor forgotten: all
// entries and the sessions that ended last, of these at most most, and at most as many that were received. others are
// the session keys of the remaining sessions. Both are ordered by session key.
func (s *Store) Selected(
	ctx context.Context, projectID string, most int,
) (selected []memoir.Extraction, others []string, err error) {
	err = s.read(ctx, func(t tx) {
		const of = ` FROM extraction e WHERE e.project_id = ? AND ` + isInput + ` AND `
		const order = ` ORDER BY e.ended_at DESC, e.session_key LIMIT ? OFFSET ?`
		for _, group := range []string{`e.session_key NOT LIKE 'memoir:%' AND NOT ` + isReceived, isReceived} {
			some := collect(t, scanExtraction, `SELECT `+extractionColumns+of+group+order, projectID, most, 0)
			left := t.texts(`SELECT e.session_key`+of+group+order, projectID, -1, most)
			selected, others = append(selected, some...), append(others, left...)
		}
		entries := `SELECT ` + extractionColumns + of + `e.session_key LIKE 'memoir:%'`
		selected = append(selected, collect(t, scanExtraction, entries, projectID)...)
	})
	slices.SortFunc(selected, func(a, b memoir.Extraction) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	slices.Sort(others)
	return selected, others, s.explain(err, "reading extractions of project %s", projectID)
}

// setRedactions replaces the counts of one session or project.
func setRedactions(t tx, scope, key string, counts map[string]int) {
	t.execAll([]any{scope, key, jsonOf(counts)}, `DELETE FROM redaction WHERE scope = ?1 AND key = ?2`,
		`INSERT INTO redaction (scope, key, rule, n) SELECT ?1, ?2, key, value FROM json_each(?3) WHERE value > 0`)
}

// Result is the result of extracting one claimed session.
type Result struct {
	// Extraction has its ContentHash and FilterVersion set even if it is empty. StoreExtraction sets
	// SessionKey, ProjectID and Seq.
	Extraction memoir.Extraction
	// Withdraw lets an empty extraction remove an earlier one, because the messages that the earlier
	// one was made from were undone. Otherwise an empty one leaves the earlier in place.
	Withdraw   bool
	Messages   []Message      // the session's messages, even if the extraction is empty
	Tools      []byte         // packed, also then
	Redactions map[string]int // number of redactions in the session, by rule
	Skipped    []Skipped      // records that the reader skipped
}

// StoreExtraction finishes a claim with its result: the extraction, the messages, the ledger and the job
// are one durable transaction. The project becomes due if the extraction changed. If the claim is no
// longer ours, the error has the code memoir.CodeLeaseLost and nothing is stored. The caller then
// enters the outcome into the ledger with EndWork.
func (s *Store) StoreExtraction(ctx context.Context, c Claim, r Result) error {
	key := c.Session.Key()
	err := s.together(ctx, func(t tx) {
		c.job().held(t)
		e := r.Extraction
		e.SessionKey = key
		// The session may have moved since it was claimed.
		t.get(`SELECT coalesce(project_id, '') FROM session WHERE key = ?`, []any{key}, &e.ProjectID)
		outcome := s.storeExtraction(t, e, r.Withdraw)
		putMessages(t, key, c.InputVersion, r.Messages, r.Tools)
		setRedactions(t, kindExtract, key, r.Redactions)
		setSkipped(t, key, r.Skipped)
		endWork(t, c.Token, e.ProjectID, outcome)
		s.finishSession(t, c, e.ContentHash, e.FilterVersion)
	})
	if err == nil {
		failpoint.After("stored") // one commit may be that of several results
	}
	return s.explain(err, "storing extraction of session %s", key)
}

// storeExtraction returns the outcome for the ledger: stored, unchanged, kept, empty or withdrawn.
func (s *Store) storeExtraction(t tx, e memoir.Extraction, withdraw bool) (outcome string) {
	priors := selectExtractions(t, e.SessionKey)
	known := len(priors) > 0
	again := known && priors[0].ContentHash != e.ContentHash &&
		memoir.Content(priors[0].ContentHash) == memoir.Content(e.ContentHash)
	switch {
	case e.Empty() && !known:
		return "empty"
	case e.Empty() && !withdraw:
		return "kept"
	case e.Empty():
		if priors[0].ProjectID != "" {
			bump(t, priors[0].ProjectID)
		}
		t.exec(`DELETE FROM extraction WHERE session_key = ?`, e.SessionKey)
		return "withdrawn"
	case known && !again && sameMemory(priors[0], e):
		e.Seq, outcome = priors[0].Seq, "unchanged"
	default:
		if outcome = "stored"; e.ProjectID != "" {
			e.Seq = bump(t, e.ProjectID)
		}
		if again || known && e.ProjectID == "" { // the history has the session
			e.Seq = priors[0].Seq
		}
	}
	s.putExtraction(t, e)
	return outcome
}

// putExtraction writes an extraction and replaces an earlier one of its session.
func (s *Store) putExtraction(t tx, e memoir.Extraction) {
	t.exec(`INSERT INTO extraction (session_key, project_id, statements, rollout_summary, rollout_slug, title,
			cwd, branch, started_at, ended_at, content_hash, filter_version, model, seq, stored_at, history_entry)
		VALUES (?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session_key) DO UPDATE SET project_id = excluded.project_id, statements = excluded.statements,
			rollout_summary = excluded.rollout_summary, rollout_slug = excluded.rollout_slug, title = excluded.title,
			cwd = excluded.cwd, branch = excluded.branch, started_at = excluded.started_at, ended_at = excluded.ended_at,
			content_hash = excluded.content_hash, filter_version = excluded.filter_version, model = excluded.model,
			seq = excluded.seq, stored_at = excluded.stored_at,
			history_entry = excluded.history_entry`,
		e.SessionKey, e.ProjectID, statementColumn{&e.Statements}, e.RolloutSummary, e.RolloutSlug, e.Title, e.CWD, e.Branch,
		millis(e.StartedAt), millis(e.EndedAt), e.ContentHash, e.FilterVersion, e.Model, e.Seq, millis(s.now()),
		e.HistoryEntry)
}

// sameMemory reports whether two extractions are equal as inputs of a consolidation. Anchors and history
// entries are ignored: a change of these alone does not make the project due.
func sameMemory(a, b memoir.Extraction) bool {
	strip := func(e memoir.Extraction) memoir.Extraction {
		e.ContentHash, e.FilterVersion, e.Model, e.Seq, e.HistoryEntry = "", 0, "", 0, ""
		e.Statements = slices.Clone(e.Statements)
		for i := range e.Statements {
			e.Statements[i].ID, e.Statements[i].Anchors = "", nil
		}
		e.StartedAt, e.EndedAt = unixMillis(millis(e.StartedAt)), unixMillis(millis(e.EndedAt))
		return e
	}
	return reflect.DeepEqual(strip(a), strip(b))
}
