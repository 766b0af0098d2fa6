package store

import (
	"context"

	"memoir"
)

// RenameProject gives a project the name that a person chose. Its id stays, and
// with it its folder; the former name stays as an alias; no scan changes it.
// What is consolidated bears the new name from the next time on, so the project is
// due. The error has the code CodeUsage when another project is called that.
func (s *Store) RenameProject(ctx context.Context, projectID, name string) error {
	err := s.durably(ctx, func(t tx) error {
		var before string
		var renamed bool
		if err := t.get(`SELECT name, renamed FROM project WHERE id = ?`, []any{projectID}, &before, &renamed); err != nil {
			return memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them", "no project has the id %q", projectID)
		}
		taken, err := t.texts(`SELECT id FROM project WHERE id <> ?1 AND (name = ?2 OR id = ?2)`, projectID, name)
		if err != nil {
			return err
		}
		if len(taken) > 0 {
			return memoir.Errorf(memoir.CodeUsage, "choose another name, or `memoir projects merge` them", "%s is called %q already", taken[0], name)
		}
		if before == name && renamed {
			return nil
		}
		if before != name {
			if err := addAlias(t, before, aliasName, projectID); err != nil {
				return err
			}
		}
		if _, err := t.exec(`DELETE FROM project_alias WHERE project_id = ? AND alias = ? AND kind = 'name'`, projectID, name); err != nil {
			return err
		}
		// Nothing to consolidate means nothing that bears a name.
		_, err = t.exec(`UPDATE project SET name = ?1, renamed = 1, change_seq = change_seq + (generation > 0 AND name <> ?1) WHERE id = ?2`, name, projectID)
		return err
	})
	if code := memoir.CodeOf(err); code == memoir.CodeUsage || code == memoir.CodeNotFound {
		return err
	}
	return s.explain(err, "renaming project %s", projectID)
}

// ForgetProject withdraws a project for good: its sessions are forgotten, as by
// SetForgotten, and belong to no project; what was extracted from them, its notes,
// generations and aliases are deleted. A session that comes later begins a new
// project. What is left to do is the folder: see FolderMoves. It returns how many
// sessions were forgotten.
func (s *Store) ForgetProject(ctx context.Context, projectID string) (sessions int, err error) {
	err = s.durably(ctx, func(t tx) error {
		if err := s.dropBackup(); err != nil {
			return err
		}
		keys, err := t.texts(`SELECT key FROM session WHERE project_id = ?1
			UNION SELECT session_key FROM extraction WHERE project_id = ?1 ORDER BY 1`, projectID)
		if err != nil {
			return err
		}
		sessions = len(keys)
		if keys, err = withSubagents(t, keys); err != nil {
			return err
		}
		if err := s.bury(t, projectID, keys); err != nil {
			return err
		}
		if err := s.deleteExtracted(t, keys); err != nil {
			return err
		}
		for _, statement := range []string{
			`DELETE FROM redaction WHERE scope = 'consolidate' AND key = ?`,
			`DELETE FROM job WHERE kind = 'consolidate' AND key = ?`,
			`UPDATE folder_move SET into_id = '' WHERE into_id = ?`,
			`DELETE FROM project WHERE id = ?`,
			`INSERT INTO folder_move (project_id, into_id) VALUES (?, '') ON CONFLICT (project_id) DO UPDATE SET into_id = ''`,
		} {
			if _, err := t.exec(statement, projectID); err != nil {
				return err
			}
		}
		return nil
	})
	return sessions, s.explain(err, "forgetting project %s", projectID)
}
