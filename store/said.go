package store

import (
	"context"
	"slices"
	"time"

	"memoir"
)

// putSaid replaces what new sessions are told of a session, without what its extraction has: that was consolidated, or
// will be.
func putSaid(t tx, key string, statements []memoir.Statement) {
	for _, e := range selectExtractions(t, key) {
		statements = slices.DeleteFunc(slices.Clone(statements), func(st memoir.Statement) bool {
			return slices.ContainsFunc(e.Statements, func(have memoir.Statement) bool { return have.Text == st.Text })
		})
	}
	if t.exec(`DELETE FROM said WHERE session_key = ?`, key); len(statements) > 0 {
		t.exec(`INSERT INTO said (session_key, statements) VALUES (?, ?)`, key, statementColumn{&statements})
	}
}

// endSaid deletes what is told of sessions whose extraction was consolidated, or that have none though they were read.
const endSaid = `DELETE FROM said WHERE session_key IN (SELECT key FROM session WHERE project_id = ?1 OR key = ?2)
	AND EXISTS (SELECT 1 FROM job j JOIN session s ON s.key = j.key
		WHERE j.kind = 'extract' AND j.key = session_key AND j.done_version = s.version)
	AND NOT EXISTS (SELECT 1 FROM extraction e JOIN project p ON p.id = e.project_id
		WHERE e.session_key = said.session_key AND e.seq > p.consumed_seq)`

// SaidFor is how long new sessions are told what a session said that no consolidation has taken.
const SaidFor = 7 * 24 * time.Hour

// Said returns what new sessions of a project are told of sessions that no consolidation has taken yet, the latest
// first. Forgotten, disabled and excluded sessions are left out.
func (s *Store) Said(ctx context.Context, projectID string) ([]memoir.Extraction, error) {
	return fetchAll(ctx, s, "reading what was said since the last consolidation",
		func(scan scanner, e *memoir.Extraction) {
			scan(&e.SessionKey, &e.ProjectID, &e.Title, timeColumn{&e.EndedAt}, statementColumn{&e.Statements})
			e.Identify()
		}, `SELECT s.key, s.project_id, s.title, s.updated_at, d.statements
			FROM said d CROSS JOIN session s ON s.key = d.session_key
			WHERE s.project_id = ? AND s.updated_at >= ? AND NOT EXISTS (SELECT 1 FROM mark m
				WHERE m.session_key = s.key AND (m.disabled OR m.directory <> '' OR m.forgotten))
			ORDER BY s.updated_at DESC, s.key`, projectID, millis(time.Now().Add(-SaidFor)))
}

// PruneSaid deletes what sessions that are too old said.
func (s *Store) PruneSaid(ctx context.Context) error {
	return s.explain(s.quickly(ctx, func(t tx) {
		t.exec(`DELETE FROM said WHERE session_key IN (SELECT key FROM session WHERE updated_at < ?)`,
			millis(time.Now().Add(-SaidFor)))
	}), "deleting what old sessions said")
}
