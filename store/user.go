package store

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"

	"memoir"
)

// Changes returns a hash of the change sequences of all projects and the last hand edit, and whether NoteChanges
// recorded this state.
func (s *Store) Changes(ctx context.Context) (state int64, noted bool, err error) {
	err = s.read(ctx, func(t tx) error {
		sum := fnv.New64a()
		rows, err := t.texts(`SELECT id || ' ' || change_seq || ' ' || (SELECT ifnull(max(id), 0) FROM hand_edit)
			FROM project WHERE id <> ? ORDER BY id`, memoir.UserProjectID)
		for _, row := range rows {
			sum.Write([]byte(row + "\n"))
		}
		if state = int64(sum.Sum64()); err != nil {
			return err
		}
		var before int64
		err = t.get(`SELECT n FROM counter WHERE name = 'user'`, nil, &before)
		noted = err == nil && state == before
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return state, noted, s.explain(err, "looking for changes")
}

// RecordChanges records that the user's own memory was compared with a state of the projects. If due is set,
// it registers the user's project and makes it due.
func (s *Store) RecordChanges(ctx context.Context, state int64, due bool) error {
	return s.explain(s.quickly(ctx, func(t tx) error {
		if user := memoir.UserProject(); due {
			if _, err := t.exec(`INSERT INTO project (id, name, identity, remote) VALUES (?, ?, ?, '') ON CONFLICT DO NOTHING`,
				user.ID, user.Name, user.Identity); err != nil {
				return err
			}
			if _, err := bump(t, user.ID); err != nil {
				return err
			}
		}
		return t.run(`INSERT INTO counter (name, n) VALUES ('user', ?) ON CONFLICT (name) DO UPDATE SET n = excluded.n`,
			state)
	}), "noting changes")
}

// Stated returns the extractions of all projects that have statements of one of two kinds and whose sessions are
// neither disabled nor forgotten, ordered by session key.
func (s *Store) Stated(ctx context.Context, kind, other memoir.StatementKind) ([]memoir.Extraction, error) {
	return fetch(ctx, s, func(t tx) ([]memoir.Extraction, error) {
		return collect(t, `SELECT `+extractionColumns+` FROM extraction e WHERE e.project_id IS NOT NULL
			AND (instr(e.statements, ?) > 0 OR instr(e.statements, ?) > 0) AND `+isInput+` ORDER BY e.session_key`,
			[]any{`"kind":"` + string(kind) + `"`, `"kind":"` + string(other) + `"`}, scanExtraction)
	}, "reading statements")
}
