package store

import (
	"context"

	"memoir"
)

// MergeProjects makes one project of two, of which the caller holds both: all
// that belonged to from is into's, which is due, and what from was known by leads
// to into. It is one durable transaction. What is left to do is the folder of
// from: FolderMoves lists it until FolderMoved. The claim on from ends with it;
// that on into stays. The error has the code memoir.CodeLeaseLost, and nothing is
// changed, when one of the claims is no longer held.
//
// Changes made by hand are all kept. Those of from count as made before those of
// into, so that where the two contradict each other into has the last word.
func (s *Store) MergeProjects(ctx context.Context, from, into ProjectClaim) error {
	err := s.durably(ctx, func(t tx) error {
		for _, c := range []ProjectClaim{from, into} {
			if err := c.unexpired(t, s.ticks()); err != nil {
				return err
			}
		}
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		source, target := a.projects[from.ProjectID], a.projects[into.ProjectID]
		if source.ID == target.ID {
			return memoir.Errorf(memoir.CodeUsage, "", "project %s cannot be merged into itself", source.ID)
		}
		seq, err := bump(t, target.ID)
		if err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE extraction SET project_id = ?, seq = ? WHERE project_id = ?`, target.ID, seq, source.ID); err != nil {
			return err
		}
		for _, statement := range []string{
			`UPDATE session SET project_id = ?1 WHERE project_id = ?2`,
			`UPDATE project_directory SET project_id = ?1 WHERE project_id = ?2`,
			`INSERT INTO project_alias (alias, project_id, kind) SELECT alias, ?1, kind FROM project_alias WHERE project_id = ?2 ON CONFLICT DO NOTHING`,
			`DELETE FROM project_union WHERE from_id IN (?1, ?2) AND into_id IN (?1, ?2)`,
			`UPDATE project_union SET into_id = ?1 WHERE into_id = ?2`,
			`UPDATE mark SET project_id = ?1 WHERE project_id = ?2`,
			`UPDATE OR REPLACE withdrawal SET project_id = ?1, seq = (SELECT change_seq FROM project WHERE id = ?1),
				purge = max(purge, coalesce((SELECT w.purge FROM withdrawal w WHERE w.project_id = ?1 AND w.text = withdrawal.text), 0)) WHERE project_id = ?2`,
			`UPDATE folder_move SET into_id = ?1 WHERE into_id = ?2`,
			`INSERT INTO folder_move (project_id, into_id) VALUES (?2, ?1) ON CONFLICT (project_id) DO UPDATE SET into_id = excluded.into_id`,
		} {
			if _, err := t.exec(statement, target.ID, source.ID); err != nil {
				return err
			}
		}
		if err := moveNotes(t, source.ID, target.ID); err != nil {
			return err
		}
		for _, alias := range [][2]string{{source.ID, aliasID}, {source.Identity, aliasIdentity}, {source.Name, aliasName}} {
			if alias[0] == target.Identity || alias[0] == target.Name {
				continue
			}
			if err := addAlias(t, alias[0], alias[1], target.ID); err != nil {
				return err
			}
		}
		for _, statement := range []string{
			`DELETE FROM redaction WHERE scope = 'consolidate' AND key = ?`,
			`DELETE FROM job WHERE kind = 'consolidate' AND key = ?`,
			`DELETE FROM project WHERE id = ?`,
		} {
			if _, err := t.exec(statement, source.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "merging project %s into %s", from.ProjectID, into.ProjectID)
}

// moveNotes gives a project the notes of another, on bases below all of its own:
// no generation that is recorded later replaces them.
func moveNotes(t tx, from, into string) error {
	var newest, oldest int64
	if err := t.get(`SELECT coalesce(max(base), 0) FROM note WHERE project_id = ?`, []any{from}, &newest); err != nil {
		return err
	}
	if err := t.get(`SELECT min(0, coalesce(min(base), 0)) FROM note WHERE project_id = ?`, []any{into}, &oldest); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE note SET project_id = ?, base = base + ? WHERE project_id = ?`, into, oldest-1-newest, from)
	return err
}

func addAlias(t tx, alias, kind, projectID string) error {
	_, err := t.exec(`INSERT INTO project_alias (alias, project_id, kind) VALUES (?, ?, ?)
		ON CONFLICT (alias, project_id) DO UPDATE SET kind = excluded.kind WHERE kind = 'name'`, alias, projectID, kind)
	return err
}

// FolderMove is a folder of a project whose row is gone.
type FolderMove struct {
	ProjectID string
	Into      string // the project that it is kept below; empty: it is to be removed
}

// FolderMoves lists what is to be done with folders, in order.
func (s *Store) FolderMoves(ctx context.Context) ([]FolderMove, error) {
	var moves []FolderMove
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT project_id, into_id FROM folder_move ORDER BY project_id`, nil, func(scan func(...any) error) error {
			var m FolderMove
			err := scan(&m.ProjectID, &m.Into)
			moves = append(moves, m)
			return err
		})
	})
	return moves, s.explain(err, "listing folders to move")
}

// FolderMoved says that a folder is where it belongs, or gone.
func (s *Store) FolderMoved(ctx context.Context, m FolderMove) error {
	err := s.durably(ctx, func(t tx) error {
		_, err := t.exec(`DELETE FROM folder_move WHERE project_id = ? AND into_id = ?`, m.ProjectID, m.Into)
		return err
	})
	return s.explain(err, "recording that the folder of %s was moved", m.ProjectID)
}
