package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
)

// The columns origin are stacks of identities, one a line, by which Split undoes merges one after the other. A
// session's first is the one that it was found with. Each merge puts that of the merged project on top.
const (
	pushed = `(SELECT identity FROM project WHERE id = ?1) || iif(origin = '', '', char(10) || origin)`
	popped = `substr(origin, instr(origin || char(10), char(10)) + 1)`
	top    = `substr(origin, 1, instr(origin || char(10), char(10)) - 1)`
)

// Merge moves everything of a claimed project into another one, which becomes due, in one durable transaction. The
// project is deleted, and its names become aliases. Its hand edits precede those of the other project. Its folder
// remains: see RemovedFolders.
func (s *Store) Merge(ctx context.Context, c ProjectClaim, into string) error {
	return s.explain(s.durably(ctx, func(t tx) error {
		if err := c.unexpired(t, s.ticks()); err != nil {
			return err
		}
		forgetting, err := t.exists(`SELECT 1 FROM withdrawal WHERE project_id IN (?, ?)`, c.ProjectID, into)
		if err == nil && forgetting {
			err = memoir.Errorf(memoir.CodeBusy, "`memoir run` finishes it", "one of the projects is still forgetting")
		}
		keys, fault := t.texts(`SELECT key FROM session WHERE project_id = ?1
			UNION SELECT session_key FROM extraction WHERE project_id = ?1 ORDER BY 1`, c.ProjectID)
		if err = errors.Join(err, fault, mustExist(t, into), renameSkills(t, c.ProjectID, into)); err != nil {
			return err
		}
		if err := t.execAll([]any{c.ProjectID, into},
			`INSERT OR IGNORE INTO project_alias (alias, project_id, kind)
				SELECT identity, id, 'identity' FROM project WHERE id = ?1 UNION ALL
				SELECT name, id, 'name' FROM project WHERE id = ?1 UNION ALL SELECT ?1, ?1, 'name'`,
			`UPDATE session SET origin = `+pushed+` WHERE project_id = ?1`,
			`UPDATE hand_edit SET origin = `+pushed+`, base = base - 1 - (SELECT max(base) FROM hand_edit WHERE project_id = ?1)
				+ min(0, (SELECT coalesce(min(base), 0) FROM hand_edit WHERE project_id = ?2)) WHERE project_id = ?1`,
			`UPDATE hand_edit SET project_id = ?2 WHERE project_id = ?1`,
			`DELETE FROM project_alias WHERE project_id = ?2 AND kind = 'name' AND alias IN
				(SELECT alias FROM project_alias WHERE project_id = ?1 AND kind <> 'name')`,
			`UPDATE OR IGNORE project_alias SET origin = `+pushed+`, project_id = ?2 WHERE project_id = ?1`,
			`UPDATE project_directory SET origin = `+pushed+`, project_id = ?2 WHERE project_id = ?1`,
			`UPDATE mark SET project_id = ?2 WHERE project_id = ?1`); err != nil {
			return err
		}
		if err := s.moveSessions(t, keys, c.ProjectID, into); err != nil {
			return err
		}
		return t.execAll([]any{c.ProjectID, into},
			`DELETE FROM redaction WHERE scope = 'consolidate' AND key = ?1`,
			`DELETE FROM job WHERE kind = 'consolidate' AND key = ?1`,
			`DELETE FROM project WHERE id = ?1`,
			`INSERT INTO removed_folder (project_id, files_to) VALUES (?1, ?2)`)
	}), "merging project %s", c.ProjectID)
}

// renameSkills gives a project's skills that a person wrote other names than those of another project: of two hand
// edits of one file, the later one would replace the other.
func renameSkills(t tx, id, into string) error {
	const files = `SELECT DISTINCT file FROM hand_edit WHERE action IN ('file', 'deleted') AND project_id = ?`
	theirs, err := t.texts(files, into)
	ours, fault := t.texts(files, id)
	for _, file := range ours {
		name, _, _, ok := memoir.SkillPath(file)
		dir := memoir.SkillsDir + "/" + name
		if ok && slices.ContainsFunc(theirs, func(other string) bool { return strings.HasPrefix(other, dir+"/") }) {
			free := memoir.SkillsDir + "/" + strings.TrimRight(name[:min(len(name), 57)], "-") + "-" + id[len(id)-6:]
			fault = errors.Join(fault, t.run(`UPDATE hand_edit SET file = ? WHERE project_id = ? AND file = ?`,
				free+strings.TrimPrefix(file, dir), id, file))
		}
	}
	return errors.Join(err, fault)
}

// moveSessions moves sessions and entries to another project and makes both due. Conversations are then expected in its
// folder, and notes are filed again.
func (s *Store) moveSessions(t tx, keys []string, from, to string) error {
	for _, key := range keys {
		if err := moveSession(t, key, to); err != nil {
			return err
		}
	}
	folder := func(id string) string {
		return filepath.Join(filepath.Dir(s.path), "projects", id) + string(filepath.Separator)
	}
	if err := t.execAll([]any{jsonList(keys), to, folder(from), folder(to)},
		`UPDATE session SET project_id = ?2 WHERE key IN (SELECT value FROM json_each(?1))`,
		`UPDATE entry SET filed = 0 WHERE kind = 'note' AND session_key IN (SELECT value FROM json_each(?1))`,
		`UPDATE file SET path = ?4 || substr(path, length(?3) + 1) WHERE substr(path, 1, length(?3)) = ?3
			AND session_key IN (SELECT value FROM json_each(?1))`); err != nil {
		return err
	}
	_, err := bump(t, from)
	if err == nil {
		_, err = bump(t, to)
	}
	return err
}

// Part is a part of a project that Split separates, and the keys of its sessions and entries.
type Part struct {
	memoir.Project
	Keys []string
}

// Parts returns the keys of the sessions and entries that a project got by merges, and by remotes that it adopted or
// names in the settings, each with the identity.
func (s *Store) Parts(ctx context.Context, projectID string) (map[string][]string, error) {
	return fetch(ctx, s, func(t tx) (map[string][]string, error) {
		parts := map[string][]string{}
		err := t.each(`SELECT `+top+`, '' FROM project_alias WHERE project_id = ?1 AND origin <> ''
			UNION SELECT `+top+`, key FROM session
				WHERE project_id = ?1 AND `+top+` NOT IN ('', (SELECT identity FROM project WHERE id = ?1)) ORDER BY 1, 2`,
			[]any{projectID}, func(scan scanner) error {
				var identity, key string
				err := scan(&identity, &key)
				_, merged := parts[identity]
				switch own := len(remoteIdentity(identity)) == 0 && !strings.HasPrefix(identity, explicitIdentity); {
				case key == "":
					parts[identity] = nil
				case merged || !own: // its own former places are not parts
					parts[identity] = append(parts[identity], key)
				}
				return err
			})
		return parts, err
	}, "looking for parts of project %s", projectID)
}

// Split makes parts of a claimed project projects of their own, or joins them to those that have their identities, in
// one durable transaction. All become due. Journal entries are unfiled: their lines are to be moved.
func (s *Store) Split(ctx context.Context, c ProjectClaim, parts []Part) error {
	return s.explain(s.durably(ctx, func(t tx) error {
		if err := c.unexpired(t, s.ticks()); err != nil {
			return err
		}
		for _, p := range parts {
			err := t.get(`SELECT id FROM project WHERE identity = ? AND id <> ?`, []any{p.Identity, c.ProjectID}, &p.ID)
			if errors.Is(err, sql.ErrNoRows) {
				if p.ID == c.ProjectID {
					p.ID = memoir.ProjectID(p.Name, p.Identity+c.ProjectID)
				}
				err = t.run(`INSERT INTO project (id, name, identity, remote) VALUES (?, ?, ?, ?)`, p.ID, p.Name, p.Identity,
					strings.Join(remoteIdentity(p.Identity), ""))
			}
			if err == nil {
				err = t.execAll([]any{c.ProjectID, jsonList(p.Keys)},
					`INSERT INTO removed_folder (project_id, files_to) VALUES (?1, ?1) ON CONFLICT DO NOTHING`,
					// An entry with the same text loses its line, too.
					`UPDATE entry SET filed = 0 WHERE kind = 'journal' AND session_key IN (SELECT key FROM session
						WHERE project_id = ?1 AND title IN (SELECT title FROM session WHERE key IN (SELECT value FROM json_each(?2))))`)
			}
			if err == nil {
				err = s.moveSessions(t, p.Keys, c.ProjectID, p.ID)
			}
			if err != nil {
				return err
			}
			const ofPart = ` WHERE project_id = ?1 AND ` + top + ` = ?3`
			if err := t.execAll([]any{c.ProjectID, p.ID, p.Identity},
				`UPDATE session SET origin = `+popped+` WHERE project_id = ?2 AND `+top+` = ?3`,
				`UPDATE OR IGNORE hand_edit SET project_id = ?2, origin = `+popped+ofPart,
				`UPDATE OR IGNORE project_alias SET project_id = ?2, origin = `+popped+ofPart,
				`UPDATE project_directory SET project_id = ?2, origin = `+popped+ofPart,
				`DELETE FROM project_alias WHERE project_id = ?1 AND alias = ?3`,
				`DELETE FROM project_alias WHERE project_id = ?2 AND alias IN (?2, ?3, (SELECT name FROM project WHERE id = ?2))`,
			); err != nil {
				return err
			}
		}
		return nil
	}), "splitting project %s", c.ProjectID)
}
