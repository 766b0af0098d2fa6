package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"memoir"
)

// Adoption is what a project's live memory tells about it, for a database that lost it
// or never had it.
type Adoption struct {
	Project    memoir.Project
	Generation GenerationRecord // the live one; its number is 0 if there is none
	// Archived are the generations of which there is an archive. What is recorded of them
	// otherwise is replaced, since archives tell whether they are whole, and rows do not.
	Archived []GenerationRecord
	// Extractions as far as the live files have them. One that is stored already, or
	// whose session was forgotten, is left as it is.
	Extractions []memoir.Extraction
	// ExtractionsLost says that extractions that the memory rests on may be lost. Otherwise
	// those that are missing were withdrawn, and stay so.
	ExtractionsLost bool
	// Ahead says that the database is from before the memory: of the extractions those are
	// lost of which it does not know that there ever was one, and the project stays due
	// for what it is due for.
	Ahead bool
	// Notes by the generation that was edited. Those on a generation that has notes
	// already are left out.
	Notes map[int64][]memoir.Note
}

// Adopted says what was taken over.
type Adopted struct {
	Project     bool // it was registered
	Extractions int
	Notes       int
	Generations int      // that were not recorded, or otherwise
	Lost        []string // sessions that the memory rests on and nothing else is left of: what it has of them stays
}

// IsNew reports whether no project was ever claimed in this database: memory that
// is there all the same was made with another.
func (s *Store) IsNew(ctx context.Context) (isNew bool, err error) {
	err = s.read(ctx, func(t tx) error {
		return t.get(`SELECT coalesce(max(n), 0) = 0 FROM counter WHERE name = 'fence'`, nil, &isNew)
	})
	return isNew, s.explain(err, "looking whether the database is new")
}

// Registered reports whether there is a project with an id.
func (s *Store) Registered(ctx context.Context, projectID string) (found bool, err error) {
	err = s.read(ctx, func(t tx) error {
		return t.get(`SELECT EXISTS (SELECT 1 FROM project WHERE id = ?)`, []any{projectID}, &found)
	})
	return found, s.explain(err, "finding project %q", projectID)
}

// Adopt takes over what a live memory tells, in one durable transaction, so that the
// next consolidation takes nothing for withdrawn that is merely not known any more.
// Nothing becomes due by it. The database counts as used from then on.
func (s *Store) Adopt(ctx context.Context, a Adoption) (out Adopted, err error) {
	err = s.durably(ctx, func(t tx) error {
		out = Adopted{}
		if _, err := t.exec(`UPDATE counter SET n = max(n, 1, ?) WHERE name = 'fence'`, a.Generation.Fence); err != nil {
			return err
		}
		var identity string
		err := t.get(`SELECT identity FROM project WHERE id = ?`, []any{a.Project.ID}, &identity)
		out.Project = errors.Is(err, sql.ErrNoRows)
		if out.Project || err == nil && identity == a.Project.ID { // known by no more than its id
			err = upsertKnown(t, a.Project)
		}
		if err != nil || a.Generation.N == 0 {
			return err
		}
		if out.Project {
			a.ExtractionsLost = true
		}
		for _, e := range a.Extractions {
			if lost, err := a.lost(t, e.SessionKey); err != nil {
				return err
			} else if !lost {
				continue
			}
			stored, err := s.adoptExtraction(t, a.Project.ID, e)
			if err != nil {
				return err
			}
			if stored {
				out.Extractions++
			}
		}
		if out.Notes, err = adoptNotes(t, a); err != nil {
			return err
		}
		if err := s.insertGeneration(t, a.Project.ID, a.Generation); err != nil {
			return err
		}
		if out.Generations, err = recordArchived(t, a.Project.ID, a.Archived); err != nil {
			return err
		}
		if a.ExtractionsLost {
			_, out.Lost, err = absent(t, a.Project.ID, slices.Sorted(maps.Keys(a.Generation.Inputs)))
		}
		return err
	})
	return out, s.explain(err, "taking over the memory of project %s", a.Project.ID)
}

// lost reports whether a session's extraction, if it is missing, was lost rather than
// withdrawn.
func (a Adoption) lost(t tx, key string) (lost bool, err error) {
	if a.ExtractionsLost || !a.Ahead {
		return a.ExtractionsLost, nil
	}
	err = t.get(`SELECT NOT EXISTS (SELECT 1 FROM job WHERE kind = 'extract' AND key = ? AND done_version <> '')`, []any{key}, &lost)
	return lost, err
}

// upsertKnown registers a project. That it was known by its id is no name of it.
func upsertKnown(t tx, p memoir.Project) error {
	_, err := t.exec(`UPDATE project SET name = ?, identity = ? WHERE id = ?`, p.Name, p.Identity, p.ID)
	if err != nil {
		return err
	}
	return upsertProject(t, p)
}

// adoptExtraction stores one unless there is one, its session was forgotten, or what it
// gave was undone. Its session counts as read if it has no files, or was read to the same
// content; otherwise it is read once more, which costs nothing if it is what it was.
func (s *Store) adoptExtraction(t tx, projectID string, e memoir.Extraction) (bool, error) {
	var known bool
	err := t.get(`SELECT EXISTS (SELECT 1 FROM extraction WHERE session_key = ?1)
		OR EXISTS (SELECT 1 FROM mark WHERE session_key = ?1 AND forgotten)
		OR EXISTS (SELECT 1 FROM job WHERE kind = 'extract' AND key = ?1 AND gave = 2)`, []any{e.SessionKey}, &known)
	if err != nil || known {
		return false, err
	}
	source, id := memoir.SplitKey(e.SessionKey)
	_, err = t.exec(`INSERT INTO session (key, source, thread_id, project_id, kind, parent, title, cwd, branch, remote, bytes, created_at, updated_at, version, error, reason)
		VALUES (?1, ?2, ?3, ?4, 'main', '', ?5, ?6, ?7, '', 0, ?8, ?9, '', '', 'up_to_date') ON CONFLICT DO NOTHING`,
		e.SessionKey, string(source), id, projectID, e.Title, e.CWD, e.Branch, millis(e.StartedAt), millis(e.EndedAt))
	if err != nil {
		return false, err
	}
	// The session may know better when it began, and is where its extraction belongs.
	_, err = t.exec(`INSERT INTO extraction (session_key, project_id, raw_memory, rollout_summary, rollout_slug, title, cwd, branch,
			started_at, ended_at, content_hash, filter_version, model, seq, stored_at)
		SELECT key, coalesce(project_id, ?2), ?3, ?4, ?5, ?6, ?7, ?8, created_at, ?9, ?10, ?11, ?12, (SELECT change_seq FROM project WHERE id = ?2), ?13
			FROM session WHERE key = ?1`,
		e.SessionKey, projectID, e.RawMemory, e.RolloutSummary, e.RolloutSlug, e.Title, e.CWD, e.Branch,
		millis(e.EndedAt), e.ContentHash, e.FilterVersion, e.Model, millis(s.now()))
	if err != nil {
		return false, err
	}
	// Marks of a later reading would say that what is new since is in it.
	_, err = t.exec(`DELETE FROM extraction_mark WHERE session_key = ?1
		AND NOT EXISTS (SELECT 1 FROM job WHERE kind = 'extract' AND key = ?1 AND done_hash = ?2 AND filter_version = ?3)`,
		e.SessionKey, e.ContentHash, e.FilterVersion)
	if err != nil {
		return false, err
	}
	_, err = t.exec(`INSERT INTO job (kind, key, status, done_hash, filter_version, gave) VALUES ('extract', ?1, 'done', ?2, ?3, 1)
		ON CONFLICT (kind, key) DO UPDATE SET gave = 1, done_hash = excluded.done_hash, filter_version = excluded.filter_version,
			done_version = iif(done_hash = excluded.done_hash AND filter_version = excluded.filter_version, done_version, '')`,
		e.SessionKey, e.ContentHash, e.FilterVersion)
	if err != nil {
		return false, err
	}
	return true, s.settle(t, e.SessionKey)
}

func adoptNotes(t tx, a Adoption) (n int, err error) {
	for base, notes := range a.Notes {
		var has bool
		if err := t.get(`SELECT EXISTS (SELECT 1 FROM note WHERE project_id = ? AND base = ?)`, []any{a.Project.ID, base}, &has); err != nil {
			return n, err
		}
		if has {
			continue
		}
		for _, note := range notes {
			_, err := t.exec(`INSERT INTO note (project_id, base, file, action, section, after, text, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				a.Project.ID, base, note.File, string(note.Action), note.Section, note.After, note.Text, millis(note.At))
			if err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
