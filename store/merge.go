package store

import (
	"context"
	"path/filepath"
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

// AddProject registers a project that Merge will move another one into.
func (s *Store) AddProject(ctx context.Context, p memoir.Project) error {
	return s.explain(s.durably(ctx, func(t tx) {
		t.exec(`INSERT OR IGNORE INTO project (id, name, identity, remote) VALUES (?, ?, ?, ?)`,
			p.ID, p.Name, p.Identity, p.Remote)
	}), "registering project %s", p.ID)
}

// Merge moves everything of a claimed project into another one, which becomes due, and deletes the project, in one
// durable transaction. Its names become aliases. Its hand edits precede those of the other project, and its skills get
// other names than theirs. Its folder remains: see RemovedFolders.
func (s *Store) Merge(ctx context.Context, c ProjectClaim, into string) error {
	const skill = `substr(file, 1, instr(substr(file, 8), '/') + 7)`
	return s.explain(s.durably(ctx, func(t tx) {
		if c.unexpired(t, s.ticks()); t.exists(`SELECT 1 FROM withdrawal WHERE project_id IN (?, ?)`, c.ProjectID, into) {
			t.fail(memoir.Errorf(memoir.CodeBusy, "`memoir run` finishes it", "one of the projects is still forgetting"))
		}
		mustExist(t, into)
		t.execAll([]any{c.ProjectID, into},
			`INSERT OR IGNORE INTO project_alias (alias, project_id, kind)
				SELECT identity, id, 'identity' FROM project WHERE id = ?1 UNION ALL
				SELECT name, id, 'name' FROM project WHERE id = ?1 UNION ALL SELECT ?1, ?1, 'name'`,
			`UPDATE hand_edit SET file = replace(file, 'skills/', 'skills/' || substr(?1, -6) || '-')
				WHERE project_id = ?1 AND file LIKE 'skills/%'
				AND `+skill+` IN (SELECT `+skill+` FROM hand_edit WHERE project_id = ?2)`,
			`UPDATE hand_edit SET base = base - 1 - (SELECT max(base) FROM hand_edit WHERE project_id = ?1)
				+ min(0, (SELECT coalesce(min(base), 0) FROM hand_edit WHERE project_id = ?2)) WHERE project_id = ?1`,
			`DELETE FROM project_alias WHERE project_id = ?2 AND kind = 'name' AND alias IN
				(SELECT alias FROM project_alias WHERE project_id = ?1 AND kind <> 'name')`,
			`UPDATE mark SET project_id = ?2 WHERE project_id = ?1`,
			`UPDATE OR IGNORE review SET project_id = ?2 WHERE project_id = ?1`,
			`UPDATE OR IGNORE received SET project_id = ?2 WHERE project_id = ?1`,
			`UPDATE ledger SET project_id = ?2 WHERE project_id = ?1`)
		s.moveAll(t, c.ProjectID, into, "", `true`, pushed)
		t.execAll([]any{c.ProjectID, into},
			`UPDATE extraction SET project_id = ?2 WHERE project_id = ?1`, // of sessions that are elsewhere by now
			`INSERT INTO removed_folder (project_id, files_to) VALUES (?1, ?2)`)
		removeProject(t, c.ProjectID)
	}), "merging project %s", c.ProjectID)
}

// moveAll moves what the condition of selects of a project to another one, with a new origin, and makes both due.
// Conversations are then expected in its folder, and notes are filed again. identity is ?3 in the condition.
func (s *Store) moveAll(t tx, from, to, identity, of, origin string) {
	keys := t.texts(`SELECT key FROM session WHERE project_id = ?1 AND `+of, from, to, identity)
	for _, key := range keys {
		moveSession(t, key, to)
	}
	for _, table := range []string{"session", "hand_edit", "project_alias", "project_directory"} {
		t.execAll([]any{from, to, identity},
			`UPDATE OR IGNORE `+table+` SET project_id = ?2, origin = `+origin+` WHERE project_id = ?1 AND `+of)
	}
	folders := filepath.Join(filepath.Dir(s.path), "projects") + string(filepath.Separator)
	t.execAll([]any{folders + from, folders + to, jsonList(keys), from, to},
		`UPDATE file SET path = ?2 || substr(path, length(?1) + 1) WHERE substr(path, 1, length(?1)) = ?1
			AND session_key IN (SELECT value FROM json_each(?3))`,
		`UPDATE entry SET filed = 0 WHERE kind = 'note' AND session_key IN (SELECT value FROM json_each(?3))`,
		`UPDATE project SET change_seq = change_seq + 1 WHERE id IN (?4, ?5)`)
}

// Parts returns the sessions and entries that a project got by merges and by remotes that it adopted: identity -> keys.
func (s *Store) Parts(ctx context.Context, projectID string) (map[string][]string, error) {
	return fetch(ctx, s, func(t tx) map[string][]string {
		parts := map[string][]string{}
		for scan := range t.rows(`SELECT `+top+`, key FROM session WHERE project_id = ?1 AND key NOT LIKE 'memoir:journal-%'
			AND `+top+` NOT IN ('', (SELECT identity FROM project WHERE id = ?1))
			AND (`+top+` NOT LIKE '/%' OR `+top+` IN (SELECT `+top+` FROM project_alias WHERE project_id = ?1)) ORDER BY key`,
			projectID) {
			var identity, key string
			scan(&identity, &key)
			parts[identity] = append(parts[identity], key)
		}
		return parts
	}, "looking for parts of project %s", projectID)
}

// Split makes parts of a claimed project projects of their own in one durable transaction. All become due. Lines of
// journals stay.
func (s *Store) Split(ctx context.Context, c ProjectClaim, parts []memoir.Project) error {
	return s.explain(s.durably(ctx, func(t tx) {
		c.unexpired(t, s.ticks())
		for _, p := range parts {
			if p.ID == c.ProjectID { // which began with that identity
				p.ID = memoir.ProjectID(p.Name, p.Identity+c.ProjectID)
			}
			p.Remote = strings.Join(remoteIdentity(p.Identity), "")
			t.execAll([]any{c.ProjectID, p.Identity, p.ID, p.Name, p.Remote},
				`INSERT OR IGNORE INTO removed_folder (project_id, files_to) VALUES (?1, ?1)`,
				`UPDATE session SET origin = `+popped+` WHERE project_id = ?1 AND `+top+` = ?2 AND key LIKE 'memoir:journal-%'`,
				`INSERT OR IGNORE INTO project (id, name, identity, remote) VALUES (?3, ?4, ?2, ?5)`)
			s.moveAll(t, c.ProjectID, p.ID, p.Identity, top+` = ?3`, popped)
			t.execAll([]any{c.ProjectID, p.Identity, p.ID, p.Name},
				`DELETE FROM project_alias WHERE project_id = ?1 AND alias = ?2`,
				`DELETE FROM project_alias WHERE project_id = ?3 AND alias IN (?2, ?3, ?4)`)
		}
	}), "splitting project %s", c.ProjectID)
}
