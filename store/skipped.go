package store

import (
	"context"
	"time"

	"memoir"
)

// Why a record was skipped.
const (
	SkippedUnknown   = "unknown"   // of a type that the agent's reader does not know
	SkippedMalformed = "malformed" // not JSON
	SkippedOversized = "oversized" // larger than a reader holds
	SkippedCut       = "cut"       // the last one, which was not written to its end
)

// Skipped counts records of one session that were skipped.
type Skipped struct {
	Why  string // one of the constants above
	Type string // of unknown records; foreign text, which the caller has cleaned
	N    int
}

// SkippedRow is what the sessions of one agent have of one Why and Type.
type SkippedRow struct {
	Skipped  // N over all sessions
	Source   memoir.Source
	Sessions int
	Newest   string    // key of the session that was active last
	At       time.Time // of its last record
}

// SkippedRecords returns what was skipped in the sessions that were extracted, by
// agent and reason, the most frequent first.
func (s *Store) SkippedRecords(ctx context.Context) ([]SkippedRow, error) {
	var rows []SkippedRow
	err := s.read(ctx, func(t tx) error {
		// Beside max, SQLite takes the other columns from the row that has it.
		return t.each(`SELECT s.source, k.why, k.type, sum(k.n), count(*), s.key, max(s.updated_at)
			FROM skipped_record k JOIN session s ON s.key = k.session_key
			GROUP BY s.source, k.why, k.type ORDER BY s.source, k.why, sum(k.n) DESC, k.type`, nil,
			func(scan func(...any) error) error {
				var r SkippedRow
				var at int64
				err := scan((*string)(&r.Source), &r.Why, &r.Type, &r.N, &r.Sessions, &r.Newest, &at)
				r.At = moment(at)
				rows = append(rows, r)
				return err
			})
	})
	return rows, s.explain(err, "reading what was skipped")
}

// setSkipped replaces what was skipped in a session.
func setSkipped(t tx, key string, skipped []Skipped) error {
	if _, err := t.exec(`DELETE FROM skipped_record WHERE session_key = ?`, key); err != nil {
		return err
	}
	for _, k := range skipped {
		_, err := t.exec(`INSERT INTO skipped_record (session_key, why, type, n) VALUES (?, ?, ?, ?)
			ON CONFLICT (session_key, why, type) DO UPDATE SET n = n + excluded.n`, key, k.Why, k.Type, k.N)
		if err != nil {
			return err
		}
	}
	return nil
}
