package store

import (
	"context"
	"time"

	"memoir"
)

// The kinds of messages that are not said by a person or the agent.
const (
	MessageCommand = "command" // a command that the agent called
	MessageError   = "error"   // what the result of a tool call says that failed or that reports an error
	MessageOutput  = "output"  // the last lines that another command printed
)

// Message is one text of a session; the caller has redacted it and bounded its length.
type Message struct {
	Item  int       `json:"n"`           // its item number in the session
	Kind  string    `json:"k,omitempty"` // one of the constants above; empty: said
	Typed bool      `json:"-"`           // by a person; else it is the agent's
	At    time.Time `json:"a,omitzero"`
	Text  string    `json:"t"`
}

// Searchable is a session that searching finds.
type Searchable struct {
	Seq       int64  // changes whenever the stored texts of the session change
	ProjectID string // empty: none
}

// SessionText is the stored text of a session.
type SessionText struct {
	SessionKey string
	Kind       memoir.SessionKind
	EndedAt    time.Time
	Statements []memoir.Statement // none: none were extracted
	Messages   []Message
	Tools      []Message // commands and errors
}

// putMessages replaces the messages and packed tools of a session, as they were read in a version of it, and gives it a
// new number.
func putMessages(t tx, key, version string, messages []Message, tools []byte) {
	t.execAll([]any{key, version, tools}, `DELETE FROM searchable WHERE session_key = ?1`,
		`INSERT INTO searchable (session_key, tools) VALUES (?1, coalesce(?3, x''))`,
		`UPDATE session SET taken = ?2 WHERE key = ?1`)
	for _, m := range messages {
		t.exec(`INSERT INTO message (seq, item, typed, at, text)
			SELECT seq, ?, ?, ?, ? FROM searchable WHERE session_key = ?`, m.Item, m.Typed, millis(m.At), m.Text, key)
	}
}

// Untaken returns the sessions whose present version was not stored for searching, the latest first: with files, of a
// person or not, but none of memoir's own. Forgotten, disabled and excluded ones are left out. keys limits them;
// nil: all.
func (s *Store) Untaken(ctx context.Context, keys []string) ([]memoir.Session, error) {
	where, args := and(condition{`s.key IN (SELECT value FROM json_each(?))`, keys != nil, jsonList(keys)})
	return fetch(ctx, s, func(t tx) []memoir.Session {
		return selectSessions(t, Filter{Keys: t.texts(`SELECT s.key`+fromUntaken+where, args...)})
	}, "looking for sessions to read")
}

// CountUntaken counts the sessions that Untaken returns, of one project if it is not empty, without those of more than
// most bytes; 0: with them.
func (s *Store) CountUntaken(ctx context.Context, projectID string, most int64) (int, error) {
	return fetch(ctx, s, func(t tx) (n int) {
		t.get(`SELECT count(*)`+fromUntaken+` AND (?1 = 0 OR bytes <= ?1) AND ?2 IN ('', project_id)`,
			[]any{most, projectID}, &n)
		return n
	}, "counting sessions to read")
}

// fromUntaken has the condition of the index session_untaken.
const fromUntaken = ` FROM session s WHERE taken <> version AND error = '' AND kind NOT IN ('own_run', 'entry')
	AND NOT EXISTS (SELECT 1 FROM mark m WHERE m.session_key = s.key AND (m.disabled OR m.directory <> '' OR m.forgotten))
	AND EXISTS (SELECT 1 FROM file f WHERE f.session_key = s.key AND f.position >= 0)`

// Taken is a session with what was read of its files.
type Taken struct {
	Session    memoir.Session
	Messages   []Message
	Tools      []byte             // packed
	Statements []memoir.Statement // to be told until a consolidation takes them
}

// Epoch returns a number that changes when what was read before must not be stored any more.
func (s *Store) Epoch(ctx context.Context) (int64, error) {
	return fetch(ctx, s, func(t tx) (n int64) {
		t.get(`SELECT n FROM counter WHERE name = 'texts'`, nil, &n)
		return n
	}, "preparing to read sessions")
}

const endEpoch = `UPDATE counter SET n = n + 1 WHERE name = 'texts'`

// TakeIn stores for searching what was read of sessions, in one transaction. It stores nothing if the epoch in which
// they were read is over, and leaves out sessions that are not registered any more.
func (s *Store) TakeIn(ctx context.Context, epoch int64, all []Taken) error {
	return s.explain(s.quickly(ctx, func(t tx) {
		now := t.exists(`SELECT 1 FROM counter WHERE name = 'texts' AND n = ?`, epoch)
		for _, one := range all {
			if now && t.exists(`SELECT 1 FROM session WHERE key = ?`, one.Session.Key()) {
				putMessages(t, one.Session.Key(), Fingerprint(one.Session.Files), one.Messages, one.Tools)
				putSaid(t, one.Session.Key(), one.Statements)
			}
		}
	}), "storing the texts of sessions")
}

// Converse registers a conversation's session as its file was read, with its reason in the window, and stores its
// messages. The caller read the file within the same call of Alone.
func (s *Store) Converse(ctx context.Context, w Window, scan SessionScan, messages []Message) error {
	return s.explain(s.durably(ctx, func(t tx) {
		s.saveScan(t, scan)
		putMessages(t, scan.Session.Key(), Fingerprint(scan.Session.Files), messages, nil)
		s.settleIn(t, w, scan.Session.Key())
	}), "storing messages")
}

// fromSearchable joins session s and leaves out disabled, excluded and forgotten sessions.
const fromSearchable = ` FROM searchable q JOIN session s ON s.key = q.session_key
	WHERE s.kind <> 'own_run' AND NOT EXISTS (SELECT 1 FROM mark m
		WHERE m.session_key = q.session_key AND (m.disabled OR m.directory <> '' OR m.forgotten))`

// SearchState returns a text that changes whenever the searchable sessions change, and the ids of the projects
// that have a memory or a history, in order.
func (s *Store) SearchState(ctx context.Context) (state string, projects []string, err error) {
	err = s.read(ctx, func(t tx) {
		t.get(`SELECT json_array(
			(SELECT json_array(count(*), sum(seq), max(seq), sum(moves)) FROM searchable),
			(SELECT json_array(count(*), sum(at)) FROM mark WHERE disabled OR directory <> '' OR forgotten))`, nil, &state)
		projects = t.texts(`SELECT id FROM project WHERE generation > 0 OR history_seq > 0 ORDER BY id`)
	})
	return state, projects, s.explain(err, "comparing searchable texts")
}

// Searchable lists the sessions that searching finds, the oldest first.
func (s *Store) Searchable(ctx context.Context) ([]Searchable, error) {
	return fetchAll(ctx, s, "listing searchable texts",
		func(scan scanner, q *Searchable) { scan(&q.Seq, &q.ProjectID) },
		`SELECT q.seq, coalesce(s.project_id, '')`+fromSearchable+` ORDER BY s.updated_at, q.session_key`)
}

// TextOf is SessionText of a session with a key.
func (s *Store) TextOf(ctx context.Context, key string) (*SessionText, error) {
	seq, err := fetch(ctx, s, func(t tx) (n int64) {
		t.find(`SELECT seq FROM searchable WHERE session_key = ?`, []any{key}, &n)
		return n
	}, "looking for messages")
	if err != nil || seq == 0 {
		return nil, err
	}
	return s.SessionText(ctx, seq)
}

// SessionText returns the stored text of the session with a number; nil if it is no longer searchable.
func (s *Store) SessionText(ctx context.Context, seq int64) (*SessionText, error) {
	return fetch(ctx, s, func(t tx) *SessionText {
		var d SessionText
		var tools string
		if !t.find(`SELECT q.session_key, s.kind, s.updated_at, plain(q.tools),
			coalesce((SELECT statements FROM extraction e WHERE e.session_key = q.session_key), '[]')`+fromSearchable+`
			AND q.seq = ?`, []any{seq}, &d.SessionKey, &d.Kind, timeColumn{&d.EndedAt}, &tools, statementColumn{&d.Statements}) {
			return nil
		}
		var err error
		d.Tools, err = decodeTools(tools)
		t.fail(err)
		d.Messages = collect(t, func(scan scanner, m *Message) {
			scan(&m.Item, &m.Typed, timeColumn{&m.At}, &m.Text)
		}, `SELECT item, typed, at, text FROM message WHERE seq = ? ORDER BY id`, seq)
		return &d
	}, "reading messages")
}
