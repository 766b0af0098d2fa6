package store

import "context"

// Orphans counts rows that belong to nothing any more, though no rule of the schema
// forbids them.
type Orphans struct {
	Jobs       int // of sessions or projects that are not registered
	Redactions int // the same
	// Forgotten are extractions of sessions that were forgotten, which no withdrawal is
	// about: forgetting them again deletes them.
	Forgotten []string
}

// The conditions of what may be deleted: nobody works on it, and nothing reads it.
const (
	orphanJob = `status <> 'running' AND (kind = 'extract' AND NOT EXISTS (SELECT 1 FROM session WHERE session.key = job.key)
		OR kind = 'consolidate' AND NOT EXISTS (SELECT 1 FROM project WHERE project.id = job.key))`
	orphanRedaction = `(scope = 'extract' AND NOT EXISTS (SELECT 1 FROM session WHERE session.key = redaction.key)
		OR scope = 'consolidate' AND NOT EXISTS (SELECT 1 FROM project WHERE project.id = redaction.key))`
)

// Orphans looks for rows that belong to nothing.
func (s *Store) Orphans(ctx context.Context) (o Orphans, err error) {
	err = s.read(ctx, func(t tx) (err error) {
		if o, err = countOrphans(t); err != nil {
			return err
		}
		o.Forgotten, err = keysOf(t, `SELECT e.session_key FROM extraction e JOIN mark m ON m.session_key = e.session_key
			WHERE m.forgotten AND NOT EXISTS (SELECT 1 FROM withdrawal w WHERE w.project_id IN (m.project_id, e.project_id)) ORDER BY 1`)
		return err
	})
	return o, s.explain(err, "looking for rows that belong to nothing")
}

func countOrphans(t tx) (o Orphans, err error) {
	err = t.get(`SELECT (SELECT count(*) FROM job WHERE `+orphanJob+`), (SELECT count(*) FROM redaction WHERE `+orphanRedaction+`)`, nil, &o.Jobs, &o.Redactions)
	return o, err
}

// DeleteOrphans deletes the jobs and redactions among them. Where there are none,
// nothing is written.
func (s *Store) DeleteOrphans(ctx context.Context) error {
	var found Orphans
	err := s.read(ctx, func(t tx) (err error) {
		found, err = countOrphans(t)
		return err
	})
	if err == nil && found.Jobs+found.Redactions > 0 {
		err = s.quickly(ctx, func(t tx) error {
			for _, statement := range []string{`DELETE FROM job WHERE ` + orphanJob, `DELETE FROM redaction WHERE ` + orphanRedaction} {
				if _, err := t.exec(statement); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s.explain(err, "deleting rows that belong to nothing")
}
