package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
)

// The values of job.gave.
const (
	gaveNothing    = 0 // or nobody knows
	gaveExtraction = 1
	gaveUndone     = 2 // what an earlier extraction rested on was undone
)

// Lost is a session whose extraction is not stored any more, though nobody took it out.
type Lost struct {
	Key       string
	ProjectID string // whose memory may tell of it; empty: none's
}

// LostExtractions lists the sessions whose extraction is lost, by key: those that gave
// one, by their jobs, and those that the memory of a project that is due rests on. Who
// deletes rows by hand leaves it so.
func (s *Store) LostExtractions(ctx context.Context) ([]Lost, error) {
	var lost []Lost
	err := s.read(ctx, func(t tx) error {
		keys, err := keysOf(t, `SELECT j.key FROM job j INDEXED BY job_gave WHERE j.gave = 1 AND j.kind = 'extract'
			AND NOT EXISTS (SELECT 1 FROM extraction e WHERE e.session_key = j.key)
			AND NOT EXISTS (SELECT 1 FROM mark m WHERE m.session_key = j.key AND m.forgotten)`)
		if err != nil {
			return err
		}
		due, err := lastInputs(t, `WHERE `+isDue)
		if err != nil {
			return err
		}
		at := map[string]string{} // the project that rests on it
		for id, inputs := range due {
			_, more, err := absent(t, id, slices.Sorted(maps.Keys(inputs)))
			if err != nil {
				return err
			}
			keys = append(keys, more...)
			for _, key := range more {
				at[key] = id
			}
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			l := Lost{Key: key}
			if err := t.get(`SELECT coalesce((SELECT project_id FROM session WHERE key = ?1), '')`, []any{key}, &l.ProjectID); err != nil {
				return err
			}
			l.ProjectID = cmp.Or(at[key], l.ProjectID)
			lost = append(lost, l)
		}
		return nil
	})
	return lost, s.explain(err, "looking for extractions that are lost")
}

// lastInputs are the sessions that the live generations of projects rest on, by project.
func lastInputs(t tx, where string, args ...any) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	err := t.each(`SELECT p.id, g.inputs FROM project p JOIN generation g ON g.project_id = p.id AND g.n = p.generation `+where, args,
		func(scan func(...any) error) error {
			var id, list string
			if err := scan(&id, &list); err != nil {
				return err
			}
			inputs, err := inputsIn(list)
			all[id] = inputs
			return err
		})
	return all, err
}

// filesGone is the error of a session of which nothing is left but what memory has.
const filesGone = "what was extracted from it is lost, and its files are gone; what the memory has of it stays"

// ReadAgain makes the sessions whose extraction is lost as if never extracted, so that
// they are read again. One whose files are gone, too, is unreadable from then on; one
// whose row is gone is found again by the next scan.
func (s *Store) ReadAgain(ctx context.Context, lost []Lost) error {
	err := s.durably(ctx, func(t tx) error {
		for _, l := range lost {
			if err := s.readAgain(t, l.Key); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "seeing to extractions that are lost")
}

func (s *Store) readAgain(t tx, key string) error {
	var seen bool // by somebody, meanwhile
	err := t.get(`SELECT EXISTS (SELECT 1 FROM extraction WHERE session_key = ?1) OR EXISTS (SELECT 1 FROM mark WHERE session_key = ?1 AND forgotten)
		OR EXISTS (SELECT 1 FROM job WHERE kind = 'extract' AND key = ?1 AND status = 'running')`, []any{key}, &seen)
	if err != nil || seen {
		return err
	}
	for _, statement := range []string{
		`UPDATE job SET gave = 0, status = 'pending', done_version = '', done_hash = '' WHERE kind = 'extract' AND key = ?1 AND (gave = 1 OR done_hash <> '')`,
		`DELETE FROM extraction_mark WHERE session_key = ?1`,
		`DELETE FROM file WHERE session_key = ?1 AND NOT EXISTS (SELECT 1 FROM session WHERE key = ?1)`,
		`UPDATE session SET error = '` + filesGone + `' WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM file WHERE session_key = ?1)`,
	} {
		if _, err := t.exec(statement, key); err != nil {
			return err
		}
	}
	if err := s.settle(t, key); !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return nil
}

// Absent says what became of sessions that a project's memory rests on and that are no
// inputs of a consolidation now, in order. Withdrawn are those of which something that
// is stored says so: a person or a setting took them out, they belong to another
// project, or what they gave was undone. The others are lost: nothing tells that
// anybody wanted them out. Sessions that are inputs are in neither list.
func (s *Store) Absent(ctx context.Context, projectID string, keys []string) (withdrawn, lost []string, err error) {
	err = s.read(ctx, func(t tx) (err error) {
		withdrawn, lost, err = absent(t, projectID, keys)
		return err
	})
	return withdrawn, lost, s.explain(err, "looking for what project %s rested on", projectID)
}

func absent(t tx, projectID string, keys []string) (withdrawn, lost []string, err error) {
	if len(keys) == 0 {
		return nil, nil, nil
	}
	err = t.each(`SELECT k.value,
			EXISTS (SELECT 1 FROM mark m WHERE m.session_key = k.value AND (m.forgotten OR m.disabled OR m.excluded))
			OR EXISTS (SELECT 1 FROM extraction e WHERE e.session_key = k.value AND coalesce(e.project_id, '') <> ?1)
			OR EXISTS (SELECT 1 FROM session s WHERE s.key = k.value AND s.project_id <> ?1)
			OR EXISTS (SELECT 1 FROM job j WHERE j.kind = 'extract' AND j.key = k.value AND j.gave = 2)
		FROM json_each(?2) k WHERE NOT EXISTS (SELECT 1 FROM extraction e WHERE e.session_key = k.value AND e.project_id = ?1 AND `+isInput+`)
		ORDER BY k.value`, []any{projectID, jsonList(keys)}, func(scan func(...any) error) error {
		var key string
		var told bool
		err := scan(&key, &told)
		if told {
			withdrawn = append(withdrawn, key)
		} else {
			lost = append(lost, key)
		}
		return err
	})
	return withdrawn, lost, err
}

// setGave notes what an extraction came to. That one gave nothing takes back no undoing:
// a memory may rest yet on what was undone.
func setGave(t tx, key string, gave int) error {
	_, err := t.exec(`UPDATE job SET gave = ?1 WHERE kind = 'extract' AND key = ?2 AND gave <> ?1 AND (?1 <> ?3 OR gave <> ?4)`, gave, key, gaveNothing, gaveUndone)
	return err
}
