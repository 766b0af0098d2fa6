package store

import "context"

// DeleteOrphans deletes jobs and redactions of sessions and projects that are not registered,
// except jobs that a process works on. Where there are none, nothing is written.
func (s *Store) DeleteOrphans(ctx context.Context) error {
	const (
		jobs = `FROM job WHERE status <> 'running'
			AND (kind = 'extract' AND NOT EXISTS (SELECT 1 FROM session WHERE session.key = job.key)
				OR kind = 'consolidate' AND NOT EXISTS (SELECT 1 FROM project WHERE project.id = job.key))`
		redactions = `FROM redaction
			WHERE scope = 'extract' AND NOT EXISTS (SELECT 1 FROM session WHERE session.key = redaction.key)
				OR scope = 'consolidate' AND NOT EXISTS (SELECT 1 FROM project WHERE project.id = redaction.key)`
	)
	var found bool
	err := s.read(ctx, func(t tx) error {
		return t.get(`SELECT EXISTS (SELECT 1 `+jobs+`) OR EXISTS (SELECT 1 `+redactions+`)`, nil, &found)
	})
	if err == nil && found {
		err = s.quickly(ctx, func(t tx) error {
			if _, err := t.exec(`DELETE ` + jobs); err != nil {
				return err
			}
			_, err := t.exec(`DELETE ` + redactions)
			return err
		})
	}
	return s.explain(err, "deleting rows that belong to nothing")
}
