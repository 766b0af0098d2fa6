package store

import "context"

// Clear removes a project from the database: its sessions and their files and
// extractions, jobs, generations, notes and redactions. Claims on them lose. What
// stays: marks on its sessions, so that a rescan brings none back that was
// forgotten or disabled, and the ledger. What is left to do is the folder: see
// FolderMoves. Clearing what is not there is no error.
func (s *Store) Clear(ctx context.Context, projectID string) error {
	err := s.durably(ctx, func(t tx) error { return clearProject(t, projectID) })
	return s.explain(err, "clearing project %s", projectID)
}

// ClearAll is Clear for all projects, and for what belongs to none.
func (s *Store) ClearAll(ctx context.Context) error {
	err := s.durably(ctx, func(t tx) error {
		for _, statement := range []string{
			`INSERT INTO folder_move (project_id, into_id) SELECT id, '' FROM project WHERE true ON CONFLICT DO NOTHING`,
			`DELETE FROM job`, `DELETE FROM redaction`, `DELETE FROM extraction`, `DELETE FROM file`,
			`DELETE FROM session`, `DELETE FROM project`, `UPDATE folder_move SET into_id = ''`,
		} {
			if _, err := t.exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "clearing all projects")
}

func clearProject(t tx, id string) error {
	const sessions = `(SELECT key FROM session WHERE project_id = ?1 UNION SELECT session_key FROM mark WHERE forgotten AND project_id = ?1)`
	for _, statement := range []string{
		// An extraction is at first where its session is; but sessions move.
		`DELETE FROM extraction WHERE project_id = ?1 OR session_key IN ` + sessions,
		`DELETE FROM job WHERE kind = 'consolidate' AND key = ?1 OR kind = 'extract' AND key IN ` + sessions,
		`DELETE FROM redaction WHERE scope = 'consolidate' AND key = ?1 OR scope = 'extract' AND key IN ` + sessions,
		`DELETE FROM session WHERE key IN ` + sessions,
		`UPDATE folder_move SET into_id = '' WHERE into_id = ?1`,
		`INSERT INTO folder_move (project_id, into_id) SELECT id, '' FROM project WHERE id = ?1 ON CONFLICT (project_id) DO UPDATE SET into_id = ''`,
		`DELETE FROM project WHERE id = ?1`,
	} {
		if _, err := t.exec(statement, id); err != nil {
			return err
		}
	}
	return nil
}
