package store

import (
	"context"
	"hash/fnv"

	"memoir"
)

// Changes returns a hash of the change sequences of all projects and the last hand edit, and whether NoteChanges
// recorded this state.
func (s *Store) Changes(ctx context.Context) (state int64, noted bool, err error) {
	err = s.read(ctx, func(t tx) {
		sum := fnv.New64a()
		for _, row := range t.texts(`SELECT id || ' ' || change_seq || ' ' || (SELECT ifnull(max(id), 0) FROM hand_edit)
			FROM project WHERE id <> ? ORDER BY id`, memoir.UserProjectID) {
			sum.Write([]byte(row + "\n"))
		}
		state = int64(sum.Sum64())
		var before int64
		noted = t.find(`SELECT n FROM counter WHERE name = 'user'`, nil, &before) && state == before
	})
	return state, noted, s.explain(err, "looking for changes")
}

// RecordChanges records that the user's own memory was compared with a state of the projects. If due is set,
// it registers the user's project and makes it due.
func (s *Store) RecordChanges(ctx context.Context, state int64, due bool) error {
	return s.explain(s.quickly(ctx, func(t tx) {
		if user := memoir.UserProject(); due {
			t.exec(`INSERT INTO project (id, name, identity, remote) VALUES (?, ?, ?, '') ON CONFLICT DO NOTHING`,
				user.ID, user.Name, user.Identity)
			bump(t, user.ID)
		}
		t.exec(`INSERT INTO counter (name, n) VALUES ('user', ?) ON CONFLICT (name) DO UPDATE SET n = excluded.n`,
			state)
	}), "noting changes")
}

// Stated returns the extractions of all projects that have statements of one of two kinds and whose sessions are
// neither disabled nor forgotten, ordered by session key.
func (s *Store) Stated(ctx context.Context, kind, other memoir.StatementKind) ([]memoir.Extraction, error) {
	return fetchAll(ctx, s, "reading statements", scanExtraction, `SELECT `+extractionColumns+` FROM extraction e
		WHERE e.project_id IS NOT NULL
		AND (instr(e.statements, ?) > 0 OR instr(e.statements, ?) > 0) AND `+isInput+` ORDER BY e.session_key`,
		`"kind":"`+string(kind)+`"`, `"kind":"`+string(other)+`"`)
}
