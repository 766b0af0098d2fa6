package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

const extractionColumns = `e.session_key, coalesce(e.project_id, ''), e.raw_memory, e.rollout_summary, e.rollout_slug,
	e.title, e.cwd, e.branch, e.started_at, e.ended_at, e.content_hash, e.filter_version, e.model, e.seq`

func scanExtraction(scan scanner, e *memoir.Extraction) error {
	return scan(&e.SessionKey, &e.ProjectID, &e.RawMemory, &e.RolloutSummary, &e.RolloutSlug, &e.Title, &e.CWD, &e.Branch,
		timeColumn{&e.StartedAt}, timeColumn{&e.EndedAt}, &e.ContentHash, &e.FilterVersion, &e.Model, &e.Seq)
}

// selectExtraction returns what is stored of a session, nil for nothing.
func selectExtraction(t tx, key string) (*memoir.Extraction, error) {
	found, err := collect(t, `SELECT `+extractionColumns+` FROM extraction e WHERE e.session_key = ?`, []any{key},
		scanExtraction)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Selected returns the extractions of a project, none of them empty, whose sessions are neither
// disabled nor forgotten: those that ended last, at most a number of them, and the session keys
// of the others. Both are ordered by session key.
func (s *Store) Selected(
	ctx context.Context, projectID string, most int,
) (selected []memoir.Extraction, others []string, err error) {
	err = s.read(ctx, func(t tx) error {
		const order = ` FROM extraction e WHERE e.project_id = ? AND ` + isInput + `
			ORDER BY e.ended_at DESC, e.session_key LIMIT ? OFFSET ?`
		selected, err = collect(t, `SELECT `+extractionColumns+order, []any{projectID, most, 0}, scanExtraction)
		if err == nil {
			others, err = t.texts(`SELECT e.session_key`+order, projectID, -1, most)
		}
		return err
	})
	slices.SortFunc(selected, func(a, b memoir.Extraction) int { return strings.Compare(a.SessionKey, b.SessionKey) })
	slices.Sort(others)
	return selected, others, s.explain(err, "reading extractions of project %s", projectID)
}

// setRedactions replaces the counts of one session or project.
func setRedactions(t tx, scope, key string, counts map[string]int) error {
	if _, err := t.exec(`DELETE FROM redaction WHERE scope = ? AND key = ?`, scope, key); err != nil {
		return err
	}
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		if counts[rule] == 0 {
			continue
		}
		if _, err := t.exec(`INSERT INTO redaction (scope, key, rule, n) VALUES (?, ?, ?, ?)`,
			scope, key, rule, counts[rule]); err != nil {
			return err
		}
	}
	return nil
}

// Result is what extracting one claimed session gave.
type Result struct {
	// Extraction, whose ContentHash and FilterVersion say what it was made from,
	// also when it is empty. SessionKey, ProjectID and Seq are set here.
	Extraction memoir.Extraction
	// Withdraw means that what an earlier extraction rested on was undone: an empty
	// one then replaces it. Otherwise an empty one leaves the earlier.
	Withdraw   bool
	Redactions map[string]int // secrets taken out of the session, by rule
	Skipped    []Skipped      // records that no reader understood
}

// StoreExtraction finishes a claim with its result: the extraction, the ledger and
// the job are one durable transaction. The project becomes due if what it remembers
// of the session changed. When the claim is no longer ours the error has the code
// memoir.CodeLeaseLost and nothing is stored, the ledger entry included: the caller
// still knows what was spent, and says so with EndWork.
func (s *Store) StoreExtraction(ctx context.Context, c Claim, r Result) error {
	key := c.Session.Key()
	err := s.together(ctx, func(t tx) error {
		if err := c.job().held(t); err != nil {
			return err
		}
		e := r.Extraction
		e.SessionKey = key
		// The session may have moved since it was claimed.
		if err := t.get(`SELECT coalesce(project_id, '') FROM session WHERE key = ?`, []any{key}, &e.ProjectID); err != nil {
			return err
		}
		outcome, err := s.storeExtraction(t, e, r.Withdraw)
		if err != nil {
			return err
		}
		if err := setRedactions(t, kindExtract, key, r.Redactions); err != nil {
			return err
		}
		if err := setSkipped(t, key, r.Skipped); err != nil {
			return err
		}
		if err := endWork(t, c.Token, e.ProjectID, outcome); err != nil {
			return err
		}
		return s.finishSession(t, c, e.ContentHash, e.FilterVersion)
	})
	if err == nil {
		failpoint.After("stored") // one commit may be that of several results
	}
	return s.explain(err, "storing extraction of session %s", key)
}

// storeExtraction returns what became of it, in a word for the ledger.
func (s *Store) storeExtraction(t tx, e memoir.Extraction, withdraw bool) (outcome string, err error) {
	prior, err := selectExtraction(t, e.SessionKey)
	if err != nil {
		return "", err
	}
	if e.Empty() {
		switch {
		case prior == nil:
			return "empty", nil
		case !withdraw:
			return "kept", nil
		}
		if !prior.Empty() && prior.ProjectID != "" {
			if _, err := bump(t, prior.ProjectID); err != nil {
				return "", err
			}
		}
		if _, err := t.exec(`DELETE FROM extraction WHERE session_key = ?`, e.SessionKey); err != nil {
			return "", err
		}
		return "withdrawn", nil
	}
	outcome = "unchanged"
	if prior != nil {
		e.Seq = prior.Seq
	}
	if prior == nil || !sameMemory(*prior, e) {
		outcome = "stored"
		if e.ProjectID != "" {
			if e.Seq, err = bump(t, e.ProjectID); err != nil {
				return "", err
			}
		}
	}
	return outcome, s.putExtraction(t, e)
}

// putExtraction writes an extraction in the place of an earlier one of its session.
func (s *Store) putExtraction(t tx, e memoir.Extraction) error {
	_, err := t.exec(`INSERT INTO extraction (session_key, project_id, raw_memory, rollout_summary, rollout_slug, title,
			cwd, branch, started_at, ended_at, content_hash, filter_version, model, seq, stored_at)
		VALUES (?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session_key) DO UPDATE SET project_id = excluded.project_id, raw_memory = excluded.raw_memory,
			rollout_summary = excluded.rollout_summary, rollout_slug = excluded.rollout_slug, title = excluded.title,
			cwd = excluded.cwd, branch = excluded.branch, started_at = excluded.started_at, ended_at = excluded.ended_at,
			content_hash = excluded.content_hash, filter_version = excluded.filter_version, model = excluded.model,
			seq = excluded.seq, stored_at = excluded.stored_at`,
		e.SessionKey, e.ProjectID, e.RawMemory, e.RolloutSummary, e.RolloutSlug, e.Title, e.CWD, e.Branch,
		millis(e.StartedAt), millis(e.EndedAt), e.ContentHash, e.FilterVersion, e.Model, e.Seq, millis(s.now()))
	return err
}

// sameMemory reports whether a consolidation can't tell two extractions apart.
func sameMemory(a, b memoir.Extraction) bool {
	strip := func(e memoir.Extraction) memoir.Extraction {
		e.ContentHash, e.FilterVersion, e.Model, e.Seq = "", 0, "", 0
		e.StartedAt, e.EndedAt = moment(millis(e.StartedAt)), moment(millis(e.EndedAt))
		return e
	}
	return strip(a) == strip(b)
}
