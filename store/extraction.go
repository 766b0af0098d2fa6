package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
)

const extractionColumns = `e.session_key, coalesce(e.project_id, ''), e.raw_memory, e.rollout_summary, e.rollout_slug, e.title, e.cwd, e.branch,
	e.started_at, e.ended_at, e.content_hash, e.filter_version, e.model, e.seq`

func scanExtraction(scan func(...any) error) (memoir.Extraction, error) {
	var e memoir.Extraction
	var started, ended int64
	err := scan(&e.SessionKey, &e.ProjectID, &e.RawMemory, &e.RolloutSummary, &e.RolloutSlug, &e.Title, &e.CWD, &e.Branch,
		&started, &ended, &e.ContentHash, &e.FilterVersion, &e.Model, &e.Seq)
	e.StartedAt, e.EndedAt = moment(started), moment(ended)
	return e, err
}

func selectExtraction(t tx, key string) (*memoir.Extraction, error) {
	var found *memoir.Extraction
	err := t.each(`SELECT `+extractionColumns+` FROM extraction e WHERE e.session_key = ?`, []any{key}, func(scan func(...any) error) error {
		e, err := scanExtraction(scan)
		found = &e
		return err
	})
	return found, err
}

// Extractions returns what a consolidation of the project takes: the extractions
// that are not empty, of sessions that are neither disabled nor forgotten, ordered
// by session key.
func (s *Store) Extractions(ctx context.Context, projectID string) ([]memoir.Extraction, error) {
	extractions := []memoir.Extraction{}
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT `+extractionColumns+` FROM extraction e WHERE e.project_id = ? AND `+isInput+` ORDER BY e.session_key`,
			[]any{projectID}, func(scan func(...any) error) error {
				e, err := scanExtraction(scan)
				extractions = append(extractions, e)
				return err
			})
	})
	return extractions, s.explain(err, "reading extractions of project %s", projectID)
}

// Selected returns of what Extractions returns those whose sessions ended last, at
// most a number of them, and the session keys of the others. Both are ordered by
// session key.
func (s *Store) Selected(ctx context.Context, projectID string, most int) (selected []memoir.Extraction, others []string, err error) {
	err = s.read(ctx, func(t tx) error {
		const order = ` FROM extraction e WHERE e.project_id = ? AND ` + isInput + ` ORDER BY e.ended_at DESC, e.session_key LIMIT ? OFFSET ?`
		err := t.each(`SELECT `+extractionColumns+order, []any{projectID, most, 0}, func(scan func(...any) error) error {
			e, err := scanExtraction(scan)
			selected = append(selected, e)
			return err
		})
		if err != nil {
			return err
		}
		return t.each(`SELECT e.session_key`+order, []any{projectID, -1, most}, func(scan func(...any) error) error {
			var key string
			err := scan(&key)
			others = append(others, key)
			return err
		})
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
		if _, err := t.exec(`INSERT INTO redaction (scope, key, rule, n) VALUES (?, ?, ?, ?)`, scope, key, rule, counts[rule]); err != nil {
			return err
		}
	}
	return nil
}
