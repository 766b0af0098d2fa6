package store

import (
	"context"
	"database/sql"
	"errors"
)

// Draft returns what a consolidator of that name left when it last consolidated the
// project; nil for none.
func (s *Store) Draft(ctx context.Context, projectID, model string) (data []byte, err error) {
	err = s.read(ctx, func(t tx) error {
		err := t.get(`SELECT data FROM draft WHERE project_id = ? AND model = ?`, []any{projectID, model}, &data)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return data, s.explain(err, "reading the draft of project %s", projectID)
}

// KeepDraft keeps what a consolidator left, in place of what was kept before. A
// claim that is no longer ours keeps nothing: the error has the code
// memoir.CodeLeaseLost.
func (s *Store) KeepDraft(ctx context.Context, c ProjectClaim, model string, data []byte) error {
	err := s.quickly(ctx, func(t tx) error {
		if err := s.held(t, c, false); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO draft (project_id, model, data) VALUES (?, ?, ?)
			ON CONFLICT (project_id) DO UPDATE SET model = excluded.model, data = excluded.data`, c.ProjectID, model, data)
		return err
	})
	return s.explain(err, "keeping the draft of project %s", c.ProjectID)
}
