package store

import (
	"context"

	"memoir"
)

// UpsertProject registers projects under exactly these ids; which project one that was
// found is, Register tells.
func (s *Store) UpsertProject(ctx context.Context, projects ...memoir.Project) error {
	return s.quickly(ctx, func(t tx) error {
		for _, p := range projects {
			if err := upsertProject(t, p); err != nil {
				return err
			}
		}
		return nil
	})
}
