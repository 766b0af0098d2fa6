package store

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"memoir"
)

// ProjectRow is a registered project and the state of its memory.
type ProjectRow struct {
	memoir.Project
	Sessions    int
	Extractions int       // sessions that are inputs of a consolidation
	Notes       int       // notes that are inputs of a consolidation
	Generation  int64     // the live one; 0: none yet
	PublishedAt time.Time // of the live one
	Forced      bool      // a consolidation was requested with Enqueue
	Due         bool      // something changed since the last consolidation began, or one was requested
	ChangeSeq   int64
	ConsumedSeq int64
}

// Projects returns all registered projects, ordered by id.
func (s *Store) Projects(ctx context.Context) ([]ProjectRow, error) {
	return fetch(ctx, s, func(t tx) []ProjectRow { return selectProjects(t, ``) }, "listing projects")
}

// LastActive returns for each project when one of its sessions last changed.
func (s *Store) LastActive(ctx context.Context) (map[string]time.Time, error) {
	return fetch(ctx, s, func(t tx) map[string]time.Time {
		out := map[string]time.Time{}
		for id, ms := range fill(t, map[string]int64{}, `SELECT project_id, max(updated_at) FROM session
			WHERE project_id IS NOT NULL GROUP BY project_id`) {
			out[id] = unixMillis(ms)
		}
		return out
	}, "reading when projects were active")
}

// isInput selects the rows of extraction e that are inputs of a consolidation: their sessions are neither
// disabled, excluded nor forgotten. Extractions of directories in which memory is off (dirOff) stay inputs.
// storeExtraction stores no empty extraction, so the texts are not read here.
const isInput = `NOT EXISTS (SELECT 1 FROM mark m
	WHERE m.session_key = e.session_key AND (m.disabled OR m.directory = 'excluded' OR m.forgotten))`

// isReceived selects the rows of extraction e that another machine sent.
const isReceived = `(e.session_key LIKE 'team:%' OR e.session_key LIKE 'machine:%')`

func selectProjects(t tx, where string, args ...any) []ProjectRow {
	return collect(t, func(scan scanner, r *ProjectRow) {
		var directories, aliases []byte
		scan(&r.ID, &r.Name, &r.Identity, &r.Remote, &r.ChangeSeq, &r.ConsumedSeq, &r.Generation,
			timeColumn{&r.PublishedAt}, &r.Forced, &r.Due, &r.Sessions, &r.Extractions, &r.Notes, &directories, &aliases)
		t.fail(errors.Join(json.Unmarshal(directories, &r.Directories), json.Unmarshal(aliases, &r.Aliases)))
	}, `SELECT p.id, p.name, p.identity, p.remote, p.change_seq, p.consumed_seq, p.generation,
			p.published_at, p.forced_seq > p.consumed_seq, p.change_seq > p.consumed_seq OR p.forced_seq > p.consumed_seq,
			(SELECT count(*) FROM session s WHERE s.project_id = p.id AND s.kind <> 'entry'),
			(SELECT count(*) FROM extraction e WHERE e.project_id = p.id AND e.session_key NOT LIKE 'memoir:%' AND `+isInput+`),
			(SELECT count(*) FROM extraction e WHERE e.project_id = p.id AND e.session_key LIKE 'memoir:note-%' AND `+isInput+`),
			(SELECT json_group_array(path) FROM (SELECT path FROM project_directory WHERE project_id = p.id ORDER BY path)),
			(SELECT json_group_array(alias) FROM (SELECT alias FROM project_alias
				WHERE project_id = p.id AND kind <> 'inode' ORDER BY alias))
		FROM project p `+where+` ORDER BY p.id`, args...)
}

// FindProject returns the project that ref names: an id; a path at or below one of its directories, of
// which the longest counts; a name or an alias. The error of an ambiguous ref has the code CodeUsage and
// lists the ids with directories. If nothing matches, the code is CodeNotFound, and the hint names projects
// whose name differs only in case or whose id begins with ref.
func (s *Store) FindProject(ctx context.Context, ref string) (ProjectRow, error) {
	if ref == "" {
		return ProjectRow{}, memoir.Errorf(memoir.CodeUsage, "", "no project given")
	}
	var near []string
	found, err := fetch(ctx, s, func(t tx) []ProjectRow {
		for _, by := range []struct{ where, arg string }{
			{`WHERE p.id = ?`, ref},
			{`WHERE p.id = (SELECT project_id FROM project_directory WHERE path IN (SELECT value FROM json_each(?))
				ORDER BY length(path) DESC LIMIT 1)`, jsonList(ancestors(ref))},
			{`WHERE p.name = ?1 OR p.identity = ?1`, ref},
			{`WHERE p.id IN (SELECT project_id FROM project_alias WHERE alias = ?)`, ref},
		} {
			if found := selectProjects(t, by.where, by.arg); len(found) > 0 {
				return found
			}
		}
		near = t.texts(`SELECT id FROM project WHERE name = ?1 COLLATE NOCASE OR substr(id, 1, length(?1)) = ?1
			ORDER BY id LIMIT 3`, ref)
		return nil
	}, "finding project %q", ref)
	switch {
	case err != nil:
		return ProjectRow{}, err
	case len(near) > 0:
		return ProjectRow{}, memoir.Errorf(memoir.CodeNotFound, "did you mean "+strings.Join(near, " or ")+"?",
			"no project matches %q", ref)
	case len(found) == 0:
		return ProjectRow{}, memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them", "no project matches %q", ref)
	case len(found) == 1:
		return found[0], nil
	}
	var ids []string
	for _, r := range found {
		if len(r.Directories) > 0 {
			r.ID += " (" + r.Directories[0] + ")"
		}
		ids = append(ids, r.ID)
	}
	return ProjectRow{}, memoir.Errorf(memoir.CodeUsage, "name "+strings.Join(ids, " or "),
		"%d projects are named %q", len(found), ref)
}

// SharedPaths returns the ids of the projects that only a path identifies, and at whose path more than one directory
// was.
func (s *Store) SharedPaths(ctx context.Context) ([]string, error) {
	return fetchTexts(ctx, s, "looking for shared paths", `SELECT p.id FROM project p
		JOIN project_alias a ON a.project_id = p.id AND a.kind = 'inode'
		GROUP BY p.id HAVING p.remote = '' AND sum(a.alias LIKE 'git:%') = 0
			AND sum(a.alias LIKE 'dir:%' AND substr(a.alias, -length(p.identity)) = p.identity) > 1 ORDER BY p.id`)
}

// Resolve returns the registered project that a found project is identified with; an error of code
// CodeNotFound if there is none.
func (s *Store) Resolve(ctx context.Context, p memoir.Project) (ProjectRow, error) {
	found, err := fetch(ctx, s, func(t tx) []ProjectRow {
		return selectProjects(t, `WHERE p.id = ?`, readProjectIndex(t).resolve(p).id)
	}, "finding project %q", p.ID)
	if err == nil && len(found) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them", "no project with identity %q", p.Identity)
	}
	if err != nil {
		return ProjectRow{}, err
	}
	return found[0], nil
}

// ancestors returns an absolute path and all directories above it.
func ancestors(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	path = filepath.Clean(path)
	dirs := []string{path}
	for filepath.Dir(path) != path {
		path = filepath.Dir(path)
		dirs = append(dirs, path)
	}
	return dirs
}

// moveSession moves the extraction of a session to its project, and makes the projects that it leaves and enters due.
func moveSession(t tx, key, projectID string) {
	t.exec(`UPDATE searchable SET moves = moves + 1 WHERE session_key = ?1 AND EXISTS
		(SELECT 1 FROM session WHERE key = ?1 AND project_id IS NOT nullif(?2, ''))`, key, projectID)
	var from string
	var input bool
	if !t.find(`SELECT coalesce(e.project_id, ''), `+isInput+` FROM extraction e WHERE e.session_key = ?`,
		[]any{key}, &from, &input) || from == projectID {
		return
	}
	var seq int64
	for _, id := range []string{from, projectID} {
		if id != "" && input {
			seq = bump(t, id)
		}
	}
	t.exec(`UPDATE extraction SET project_id = nullif(?1, ''), seq = CASE WHEN ?1 = '' THEN 0 ELSE ?2 END
		WHERE session_key = ?3`,
		projectID, seq, key)
}

// removeProject deletes a project with its hand edits, generations and aliases. Extractions lose it. The folder
// remains to be removed.
func removeProject(t tx, id string) {
	t.execEach(id,
		`DELETE FROM redaction WHERE scope = 'consolidate' AND key = ?1`,
		`DELETE FROM job WHERE kind = 'consolidate' AND key = ?1`,
		`UPDATE extraction SET project_id = NULL WHERE project_id = ?1`,
		`UPDATE mark SET project_id = '' WHERE project_id = ?1`,
		`INSERT INTO removed_folder (project_id) SELECT id FROM project WHERE id = ?1 ON CONFLICT DO NOTHING`,
		`DELETE FROM project WHERE id = ?1`)
}

// RemovedFolders returns the projects whose folders remain to be removed, and the project that gets the files of each
// that are not part of its memory, empty for none. A project that was split is listed with itself: only conversations
// of other projects are moved.
func (s *Store) RemovedFolders(ctx context.Context) (map[string]string, error) {
	return fetchMap[string](ctx, s, "listing directories to remove", `SELECT project_id, files_to FROM removed_folder`)
}

// FolderRemoved records that the work of RemovedFolders on a project is done.
func (s *Store) FolderRemoved(ctx context.Context, projectID string) error {
	return s.explain(s.durably(ctx, func(t tx) {
		t.exec(`DELETE FROM removed_folder WHERE project_id = ?`, projectID)
	}), "recording that the directory of %s was removed", projectID)
}

// Adoption is the state of a project that was read from the files of its memory, for a database that is
// new or older than the files.
type Adoption struct {
	Project     memoir.Project
	Generations []GenerationRecord          // the oldest first; the last is the live one
	Extractions []memoir.Extraction         // inputs of the live one
	HandEdits   map[int64][]memoir.HandEdit // hand edits, by the generation that was edited
}

// Adopt stores an adoption in one durable transaction, if the live generation is not recorded. It neither
// changes existing rows nor stores extractions of forgotten sessions. No project becomes due. lacked reports whether
// the database lacked the project, an extraction or a hand edit.
func (s *Store) Adopt(ctx context.Context, a Adoption) (lacked bool, err error) {
	err = s.durably(ctx, func(t tx) {
		var recorded int64
		if lacked = !t.find(`SELECT generation FROM project WHERE id = ?`, []any{a.Project.ID}, &recorded); lacked {
			readProjectIndex(t).put(t, a.Project)
		}
		if recorded >= a.Generations[len(a.Generations)-1].N {
			return // the process that published it has since recorded it
		}
		for _, e := range a.Extractions {
			lacked = s.adoptExtraction(t, a.Project.ID, e) || lacked
		}
		lacked = adoptHandEdits(t, a, recorded) || lacked
		var last int64 // number of an entry: none is given twice
		for _, g := range a.Generations {
			s.insertGeneration(t, a.Project.ID, g)
			for key := range g.Inputs {
				last = max(last, memoir.EntryID(key))
			}
		}
		t.execEach(last, `INSERT INTO sqlite_sequence (name, seq) SELECT 'entry', 0
				WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'entry')`,
			`UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'entry'`)
	})
	return lacked, s.explain(err, "adopting the memory of project %s", a.Project.ID)
}

// adoptExtraction stores an extraction unless its session has one or was forgotten. The next run reads the
// session again; if it has not changed, no model is called.
func (s *Store) adoptExtraction(t tx, projectID string, e memoir.Extraction) (stored bool) {
	if t.exists(`SELECT 1 FROM extraction WHERE session_key = ?1
		UNION ALL SELECT 1 FROM mark WHERE session_key = ?1 AND forgotten
		UNION ALL SELECT 1 FROM entry WHERE id = ?2`, e.SessionKey, memoir.EntryID(e.SessionKey)) {
		return false
	}
	source, id := memoir.SplitKey(e.SessionKey)
	kind := memoir.KindMain
	if memoir.IsEntry(e.SessionKey) || memoir.IsReceived(e.SessionKey) {
		kind = memoir.KindEntry
	}
	if !t.exists(`SELECT 1 FROM session WHERE key = ?`, e.SessionKey) {
		s.saveSession(t, memoir.Session{Source: source, ID: id, ProjectID: projectID, Kind: kind, Title: e.Title,
			CWD: e.CWD, Branch: e.Branch, CreatedAt: e.StartedAt, UpdatedAt: e.EndedAt}, "", "")
	}
	// A registered session has the exact start and the current project.
	t.get(`SELECT coalesce(s.project_id, p.id), s.created_at, p.change_seq FROM session s, project p
		WHERE s.key = ? AND p.id = ?`, []any{e.SessionKey, projectID}, &e.ProjectID, timeColumn{&e.StartedAt}, &e.Seq)
	s.putExtraction(t, e)
	if memoir.IsEntry(e.SessionKey) {
		adoptEntry(t, e)
	} else {
		putMessages(t, e.SessionKey, "", nil, nil) // they are stored when it is read, if it is of here
	}
	t.exec(`INSERT INTO job (kind, key, status, done_hash, filter_version) VALUES ('extract', ?1, 'done', ?2, ?3)
		ON CONFLICT (kind, key) DO UPDATE SET
			done_version = '', done_hash = excluded.done_hash, filter_version = excluded.filter_version`,
		e.SessionKey, e.ContentHash, e.FilterVersion)
	s.settle(t, e.SessionKey)
	return true
}

// adoptHandEdits stores the hand edits of generations since the recorded one that have none stored.
func adoptHandEdits(t tx, a Adoption, recorded int64) (stored bool) {
	for base, edits := range a.HandEdits {
		if base < recorded || t.exists(`SELECT 1 FROM hand_edit WHERE project_id = ? AND base = ?`, a.Project.ID, base) {
			continue
		}
		for _, edit := range edits {
			putHandEdit(t, a.Project.ID, base, edit)
			stored = true
		}
	}
	return stored
}
