package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
)

// ProjectRow is a registered project and how its memory stands.
type ProjectRow struct {
	memoir.Project
	Sessions    int
	Extractions int       // inputs that a consolidation would have
	Generation  int64     // the live one; 0: none yet
	PublishedAt time.Time // of the live one
	Forced      bool      // a person asked for a consolidation
	Due         bool      // something changed since the last consolidation began, or a person asked for one
	ChangeSeq   int64
	ConsumedSeq int64
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(v string) bool { return !slices.Contains(all, v) })
}

func upsertProject(t tx, p memoir.Project) error {
	var name, identity, remote string
	err := t.get(`SELECT name, identity, remote FROM project WHERE id = ?`, []any{p.ID}, &name, &identity, &remote)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if p.Remote == "" {
		p.Remote = remote
	}
	k := known{Project: memoir.Project{Name: name, Identity: identity}}
	if k.keepsName(p) {
		p.Name = name
	}
	_, err = t.exec(`INSERT INTO project (id, name, identity, remote) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, identity = excluded.identity, remote = excluded.remote`,
		p.ID, p.Name, p.Identity, p.Remote)
	if err != nil {
		return err
	}
	for _, dir := range p.Directories {
		_, err := t.exec(`INSERT INTO project_directory (path, project_id) VALUES (?, ?)
			ON CONFLICT (path) DO UPDATE SET project_id = excluded.project_id`, dir, p.ID)
		if err != nil {
			return err
		}
	}
	for _, former := range formerly(memoir.Project{Name: name, Identity: identity, Remote: remote}, p) {
		if err := addAlias(t, former.was, former.kind, p.ID); err != nil {
			return err
		}
	}
	for _, alias := range p.Aliases {
		if err := addAlias(t, alias, aliasKind(alias), p.ID); err != nil {
			return err
		}
	}
	return nil
}

type formerAlias struct{ was, kind string }

// formerly lists what a project was called and known by before, and is no longer. A
// former remote is a name: who has it for an identity is another project.
func formerly(was, is memoir.Project) []formerAlias {
	var out []formerAlias
	for _, f := range [][3]string{
		{was.Name, is.Name, aliasName}, {was.Identity, is.Identity, aliasIdentity}, {was.Remote, is.Remote, aliasName},
	} {
		if f[0] != "" && f[0] != f[1] {
			out = append(out, formerAlias{f[0], f[2]})
		}
	}
	return out
}

// Projects returns all registered projects, ordered by id.
func (s *Store) Projects(ctx context.Context) ([]ProjectRow, error) {
	var rows []ProjectRow
	err := s.read(ctx, func(t tx) (err error) {
		rows, err = selectProjects(t, ``)
		return err
	})
	return rows, s.explain(err, "listing projects")
}

// isInput selects, of extraction e, those that a consolidation takes: of sessions
// that neither a person nor a setting has taken out. None is empty, for
// storeExtraction stores no such; to look would mean to read every text.
const isInput = `NOT EXISTS (SELECT 1 FROM mark m
	WHERE m.session_key = e.session_key AND (m.disabled OR m.excluded OR m.forgotten))`

// isDue is the condition under which project p is to be consolidated.
const isDue = `(p.change_seq > p.consumed_seq OR p.forced_seq > p.consumed_seq)`

func selectProjects(t tx, where string, args ...any) ([]ProjectRow, error) {
	rows := []ProjectRow{}
	at := map[string]int{}
	err := t.each(`SELECT p.id, p.name, p.identity, p.remote, p.change_seq, p.consumed_seq, p.generation, p.published_at,
		p.forced_seq > p.consumed_seq, `+isDue+`,
			(SELECT count(*) FROM session s WHERE s.project_id = p.id),
			(SELECT count(*) FROM extraction e WHERE e.project_id = p.id AND `+isInput+`)
		FROM project p `+where+` ORDER BY p.id`, args,
		func(scan func(...any) error) error {
			var r ProjectRow
			var published int64
			err := scan(&r.ID, &r.Name, &r.Identity, &r.Remote, &r.ChangeSeq, &r.ConsumedSeq, &r.Generation, &published,
				&r.Forced, &r.Due, &r.Sessions, &r.Extractions)
			r.PublishedAt = moment(published)
			at[r.ID] = len(rows)
			rows = append(rows, r)
			return err
		})
	if err != nil {
		return nil, err
	}
	add := func(query string, to func(r *ProjectRow, value string)) error {
		return t.each(query, nil, func(scan func(...any) error) error {
			var id, value string
			err := scan(&id, &value)
			if i, ok := at[id]; ok {
				to(&rows[i], value)
			}
			return err
		})
	}
	if err := add(`SELECT project_id, path FROM project_directory ORDER BY path`,
		func(r *ProjectRow, v string) { r.Directories = append(r.Directories, v) }); err != nil {
		return nil, err
	}
	return rows, add(`SELECT project_id, alias FROM project_alias ORDER BY alias`,
		func(r *ProjectRow, v string) { r.Aliases = append(r.Aliases, v) })
}

// FindProject returns the project that ref names: an id; a path in or below one of
// its directories, of which the longest counts; a name, an alias, a name in another
// case or the beginning of an id that no other project has. An ambiguous ref is an error of code
// CodeUsage that lists the ids.
func (s *Store) FindProject(ctx context.Context, ref string) (ProjectRow, error) {
	var found []ProjectRow
	err := s.read(ctx, func(t tx) error {
		if ref == "" {
			return memoir.Errorf(memoir.CodeUsage, "", "no project named")
		}
		for _, by := range []struct {
			where string
			arg   any
		}{
			{`WHERE p.id = ?`, ref},
			{`WHERE p.id = (SELECT project_id FROM project_directory WHERE path IN (SELECT value FROM json_each(?))
				ORDER BY length(path) DESC LIMIT 1)`, jsonList(ancestors(ref))},
			{`WHERE p.name = ?1 OR p.identity = ?1`, ref},
			{`WHERE p.id IN (SELECT project_id FROM project_alias WHERE alias = ?)`, ref},
			{`WHERE p.name = ? COLLATE NOCASE`, ref},
			{`WHERE substr(p.id, 1, length(?1)) = ?1`, ref},
		} {
			var err error
			if found, err = selectProjects(t, by.where, by.arg); err != nil || len(found) > 0 {
				return err
			}
		}
		return memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them", "no project matches %q", ref)
	})
	switch memoir.CodeOf(err) {
	case "":
	case memoir.CodeNotFound, memoir.CodeUsage:
		return ProjectRow{}, err // it says all that there is to say
	default:
		return ProjectRow{}, s.explain(err, "finding project %q", ref)
	}
	if len(found) > 1 {
		var ids []string
		for _, r := range found {
			ids = append(ids, r.ID)
		}
		return ProjectRow{}, memoir.Errorf(memoir.CodeUsage, "name "+strings.Join(ids, " or "),
			"%d projects are called %q", len(found), ref)
	}
	return found[0], nil
}

// ancestors returns an absolute path and all directories above it.
func ancestors(path string) []string {
	if !filepath.IsAbs(path) {
		return []string{}
	}
	path = filepath.Clean(path)
	dirs := []string{path}
	for filepath.Dir(path) != path {
		path = filepath.Dir(path)
		dirs = append(dirs, path)
	}
	return dirs
}

// moveSession moves the extraction, if there is one in another project.
func (s *Store) moveSession(t tx, key, projectID string) error {
	var from string
	var input bool
	err := t.get(`SELECT coalesce(e.project_id, ''), `+isInput+` FROM extraction e WHERE e.session_key = ?`,
		[]any{key}, &from, &input)
	if errors.Is(err, sql.ErrNoRows) || err == nil && from == projectID {
		return nil
	}
	if err != nil {
		return err
	}
	var seq int64
	for _, id := range []string{from, projectID} {
		if id == "" || !input {
			continue
		}
		if seq, err = bump(t, id); err != nil {
			return err
		}
	}
	_, err = t.exec(`UPDATE extraction SET project_id = nullif(?1, ''), seq = CASE WHEN ?1 = '' THEN 0 ELSE ?2 END
		WHERE session_key = ?3`,
		projectID, seq, key)
	return err
}

// ForgetProject withdraws a project for good: its sessions are forgotten, as by
// SetForgotten, and belong to no project; what was extracted from them, its notes,
// generations and aliases are deleted. A session that comes later begins a new
// project. What is left to do is the folder: see RemovedProjects. It returns how many
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
			`DELETE FROM project WHERE id = ?`,
			`INSERT INTO removed_folder (project_id) VALUES (?) ON CONFLICT DO NOTHING`,
		} {
			if _, err := t.exec(statement, projectID); err != nil {
				return err
			}
		}
		return nil
	})
	return sessions, s.explain(err, "forgetting project %s", projectID)
}
