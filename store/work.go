package store

import (
	"context"
	"database/sql"
	"errors"

	"memoir"
)

// Work says where most of a session's work was.
type Work struct {
	// CWD is the directory; empty: where the session began, or in the same project.
	CWD string
	// Project is what it belongs to, as found; the zero Project leaves the session
	// where it is.
	Project memoir.Project
}

// place moves a session to the project where its work was.
func (s *Store) place(t tx, key string, w Work) error {
	if w.Project.ID != "" {
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		id, err := a.register(t, w.Project)
		if err != nil {
			return err
		}
		if err := s.moveSession(t, key, id); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE session SET project_id = ? WHERE key = ?`, id, key); err != nil {
			return err
		}
	}
	_, err := t.exec(`UPDATE session SET work_cwd = ? WHERE key = ?`, w.CWD, key)
	return err
}

// Place is where a registered session began, where its work was, and the project
// that it belongs to because of that.
type Place struct{ CWD, WorkCWD, ProjectID string }

// WorkPlaces returns, by key, the sessions whose work was elsewhere than where they began.
func (s *Store) WorkPlaces(ctx context.Context) (map[string]Place, error) {
	places := map[string]Place{}
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT key, cwd, work_cwd, coalesce(project_id, '') FROM session WHERE work_cwd <> ''`, nil, func(scan func(...any) error) error {
			var key string
			var p Place
			err := scan(&key, &p.CWD, &p.WorkCWD, &p.ProjectID)
			places[key] = p
			return err
		})
	})
	return places, s.explain(err, "listing where sessions worked")
}

// keepWork leaves a session where its work was said to be: by an extraction, which
// reads it whole, and not by a scan. One that began elsewhere than it did is another.
func keepWork(t tx, se *memoir.Session) error {
	var p Place
	err := t.get(`SELECT cwd, work_cwd, coalesce(project_id, '') FROM session WHERE key = ?`, []any{se.Key()}, &p.CWD, &p.WorkCWD, &p.ProjectID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if p.WorkCWD != "" && p.CWD == se.CWD && p.ProjectID != "" {
		se.WorkCWD, se.ProjectID = p.WorkCWD, p.ProjectID
	}
	return err
}
