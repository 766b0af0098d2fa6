package store

import (
	"context"
	"memoir"
)

// What commands reach through more steps, tests say directly.

// UpsertProject registers projects under exactly these ids, or adds to what is
// known of them: directories and aliases are only ever added, and a name, identity
// or remote that changes leaves the former as an alias. A directory belongs to one
// project, the last that named it. Which project one that was found is, Register tells.
func (s *Store) UpsertProject(ctx context.Context, projects ...memoir.Project) error {
	var changed []memoir.Project
	err := s.read(ctx, func(t tx) error {
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		for _, p := range projects {
			k := a.projects[p.ID]
			if k == nil || k.Name != p.Name && !k.keepsName(p) || k.Identity != p.Identity || p.Remote != "" && k.Remote != p.Remote ||
				!containsAll(k.Directories, p.Directories) || !containsAll(k.Aliases, p.Aliases) {
				changed = append(changed, p)
			}
		}
		return nil
	})
	if err != nil || len(changed) == 0 {
		return s.explain(err, "looking for projects")
	}
	err = s.quickly(ctx, func(t tx) error {
		for _, p := range changed {
			if err := upsertProject(t, p); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "registering projects")
}

// MoveSession makes a session another project's, with its extraction; "" takes it
// out of all. Both projects are then due.
func (s *Store) MoveSession(ctx context.Context, key, projectID string) error {
	err := s.durably(ctx, func(t tx) error {
		if projectID != "" {
			if err := mustExist(t, projectID); err != nil {
				return err
			}
		}
		if err := s.moveSession(t, key, projectID); err != nil {
			return err
		}
		changed, err := t.exec(`UPDATE session SET project_id = nullif(?, '') WHERE key = ?`, projectID, key)
		if err != nil {
			return err
		}
		if changed == 0 {
			return memoir.Errorf(memoir.CodeNotFound, "`memoir sessions` lists them", "no session has the key %q", key)
		}
		return s.settle(t, key)
	})
	return s.explain(err, "moving session %s to project %q", key, projectID)
}
