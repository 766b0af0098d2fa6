package store

import (
	"context"
	"database/sql"
	"errors"

	"memoir"
)

// Adoption is what the files of a project's memory tell about it, for a database that is older
// than they are, or new.
type Adoption struct {
	Project     memoir.Project
	Generations []GenerationRecord      // the oldest first; the last is the live one
	Extractions []memoir.Extraction     // that the live one was made of
	Notes       map[int64][]memoir.Note // by the generation that was edited
}

// Adopted counts what was taken over.
type Adopted struct {
	New         bool // the project was not registered
	Extractions int
	Notes       int
}

// Adopt takes over what a project's memory tells, in one durable transaction, if its live
// generation is not recorded. What is stored already, and what was extracted from sessions
// that were forgotten, is left as it is. Nothing becomes due by it.
func (s *Store) Adopt(ctx context.Context, a Adoption) (out Adopted, err error) {
	err = s.durably(ctx, func(t tx) error {
		out = Adopted{}
		var recorded int64
		err := t.get(`SELECT generation FROM project WHERE id = ?`, []any{a.Project.ID}, &recorded)
		out.New = errors.Is(err, sql.ErrNoRows)
		if out.New {
			known, failed := readAtlas(t)
			if err = failed; err == nil {
				err = known.put(t, a.Project)
			}
		}
		if err != nil || recorded >= a.Generations[len(a.Generations)-1].N {
			return err // the process that published it has recorded it meanwhile
		}
		for _, e := range a.Extractions {
			stored, err := s.adoptExtraction(t, a.Project.ID, e)
			if err != nil {
				return err
			}
			if stored {
				out.Extractions++
			}
		}
		if out.Notes, err = adoptNotes(t, a, recorded); err != nil {
			return err
		}
		for _, g := range a.Generations {
			if err := s.insertGeneration(t, a.Project.ID, g); err != nil {
				return err
			}
		}
		return nil
	})
	return out, s.explain(err, "adopting the memory of project %s", a.Project.ID)
}

// adoptExtraction stores an extraction unless there is one of its session, or that was
// forgotten. The session is read once more, which costs nothing if it has not changed.
func (s *Store) adoptExtraction(t tx, projectID string, e memoir.Extraction) (bool, error) {
	known, err := t.exists(`SELECT 1 FROM extraction WHERE session_key = ?1
		UNION ALL SELECT 1 FROM mark WHERE session_key = ?1 AND forgotten`, e.SessionKey)
	if err != nil || known {
		return false, err
	}
	source, id := memoir.SplitKey(e.SessionKey)
	_, err = t.exec(`INSERT INTO session (key, source, thread_id, project_id, kind, parent, title, cwd, branch, remote,
			bytes, created_at, updated_at, version, error, reason)
		VALUES (?, ?, ?, ?, 'main', '', ?, ?, ?, '', 0, ?, ?, '', '', 'up_to_date') ON CONFLICT DO NOTHING`,
		e.SessionKey, string(source), id, projectID, e.Title, e.CWD, e.Branch, millis(e.StartedAt), millis(e.EndedAt))
	if err != nil {
		return false, err
	}
	// The session may know better when it began, and where its extraction belongs.
	err = t.get(`SELECT coalesce(s.project_id, p.id), s.created_at, p.change_seq FROM session s, project p
		WHERE s.key = ? AND p.id = ?`, []any{e.SessionKey, projectID}, &e.ProjectID, timeColumn{&e.StartedAt}, &e.Seq)
	if err == nil {
		err = s.putExtraction(t, e)
	}
	if err != nil {
		return false, err
	}
	_, err = t.exec(`INSERT INTO job (kind, key, status, done_hash, filter_version) VALUES ('extract', ?1, 'done', ?2, ?3)
		ON CONFLICT (kind, key) DO UPDATE SET
			done_version = '', done_hash = excluded.done_hash, filter_version = excluded.filter_version`,
		e.SessionKey, e.ContentHash, e.FilterVersion)
	if err != nil {
		return false, err
	}
	return true, s.settle(t, e.SessionKey)
}

// adoptNotes stores the notes on generations from the recorded one on that have none yet.
func adoptNotes(t tx, a Adoption, recorded int64) (n int, err error) {
	for base, notes := range a.Notes {
		known, err := t.exists(`SELECT 1 FROM note WHERE project_id = ? AND base = ?`, a.Project.ID, base)
		if err != nil {
			return n, err
		}
		if known || base < recorded {
			continue
		}
		for _, note := range notes {
			if err := putNote(t, a.Project.ID, base, note); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
