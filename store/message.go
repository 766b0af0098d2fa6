package store

import (
	"context"
	"time"

	"memoir"
)

// Message is one message of a session; the caller has redacted it and bounded its length.
type Message struct {
	Item  int  // its item number in the session
	Typed bool // by a person; else it is the agent's
	At    time.Time
	Text  string
}

// Searchable is a session that searching finds.
type Searchable struct {
	Seq       int64  // changes whenever the stored texts of the session change
	ProjectID string // empty: none
}

// SessionText is the stored text of a session.
type SessionText struct {
	SessionKey string
	EndedAt    time.Time
	Statements []memoir.Statement // none: none were extracted
	Messages   []Message
}

// putMessages replaces the messages of a session and gives it a new number.
func putMessages(t tx, key string, messages []Message) error {
	if err := t.execEach(key, `DELETE FROM searchable WHERE session_key = ?`,
		`INSERT INTO searchable (session_key) VALUES (?)`); err != nil {
		return err
	}
	for _, m := range messages {
		_, err := t.exec(`INSERT INTO message (seq, item, typed, at, text)
			SELECT seq, ?, ?, ?, ? FROM searchable WHERE session_key = ?`, m.Item, m.Typed, millis(m.At), m.Text, key)
		if err != nil {
			return err
		}
	}
	return nil
}

// Converse registers a conversation's session as its file was read, with its reason in the window, and stores its
// messages. The caller read the file within the same call of Alone.
func (s *Store) Converse(ctx context.Context, w Window, scan SessionScan, messages []Message) error {
	return s.explain(s.durably(ctx, func(t tx) error {
		err := s.saveScan(t, scan)
		if err == nil {
			err = putMessages(t, scan.Session.Key(), messages)
		}
		if err == nil {
			err = s.settleIn(t, w, scan.Session.Key())
		}
		return err
	}), "storing messages")
}

// fromSearchable joins session s and leaves out disabled, excluded and forgotten sessions.
const fromSearchable = ` FROM searchable q JOIN session s ON s.key = q.session_key
	WHERE NOT EXISTS (SELECT 1 FROM mark m
		WHERE m.session_key = q.session_key AND (m.disabled OR m.directory <> '' OR m.forgotten))`

// SearchState returns a text that changes whenever the searchable sessions change, and the ids of the projects
// that have a memory or a history, in order.
func (s *Store) SearchState(ctx context.Context) (state string, projects []string, err error) {
	err = s.read(ctx, func(t tx) error {
		err := t.get(`SELECT json_array(
			(SELECT json_array(count(*), sum(seq), max(seq), sum(moves)) FROM searchable),
			(SELECT json_array(count(*), sum(at)) FROM mark WHERE disabled OR directory <> '' OR forgotten))`, nil, &state)
		if err == nil {
			projects, err = t.texts(`SELECT id FROM project WHERE generation > 0 OR history_seq > 0 ORDER BY id`)
		}
		return err
	})
	return state, projects, s.explain(err, "comparing searchable texts")
}

// Searchable lists the sessions that searching finds, the oldest first.
func (s *Store) Searchable(ctx context.Context) ([]Searchable, error) {
	return fetch(ctx, s, func(t tx) ([]Searchable, error) {
		return collect(t, `SELECT q.seq, coalesce(s.project_id, '')`+fromSearchable+`
			ORDER BY s.updated_at, q.session_key`, nil,
			func(scan scanner, q *Searchable) error { return scan(&q.Seq, &q.ProjectID) })
	}, "listing searchable texts")
}

// SessionText returns the stored text of the session with a number; nil if it is no longer searchable.
func (s *Store) SessionText(ctx context.Context, seq int64) (*SessionText, error) {
	return fetch(ctx, s, func(t tx) (*SessionText, error) {
		found, err := collect(t, `SELECT q.session_key, s.updated_at,
			coalesce((SELECT statements FROM extraction e WHERE e.session_key = q.session_key), '[]')`+fromSearchable+`
			AND q.seq = ?`, []any{seq}, func(scan scanner, d *SessionText) error {
			return scan(&d.SessionKey, timeColumn{&d.EndedAt}, statementColumn{&d.Statements})
		})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		found[0].Messages, err = collect(t, `SELECT item, typed, at, text FROM message WHERE seq = ? ORDER BY id`,
			[]any{seq}, func(scan scanner, m *Message) error {
				return scan(&m.Item, &m.Typed, timeColumn{&m.At}, &m.Text)
			})
		return &found[0], err
	}, "reading messages")
}
