package store

import (
	"context"
	"database/sql"
	"time"

	"memoir"
)

// Filter selects sessions; empty fields select all.
type Filter struct {
	Project string // id
	Source  memoir.Source
	Reason  memoir.Reason
	Keys    []string
}

const sessionColumns = `s.key, s.source, s.thread_id, coalesce(s.project_id, ''), s.kind, s.parent, s.title, s.cwd,
	s.branch, s.remote,
	s.bytes, s.created_at, s.updated_at, s.reason,
	CASE WHEN s.error <> '' THEN s.error
		ELSE coalesce((SELECT last_error FROM job WHERE kind = 'extract' AND job.key = s.key), '') END`

func scanSession(scan func(...any) error, more ...any) (memoir.Session, error) {
	var se memoir.Session
	var key string
	var created, updated int64
	err := scan(append([]any{&key, (*string)(&se.Source), &se.ID, &se.ProjectID, (*string)(&se.Kind), &se.ParentID,
		&se.Title, &se.CWD,
		&se.Branch, &se.Remote, &se.Bytes, &created, &updated, (*string)(&se.Reason), &se.Error}, more...)...)
	se.CreatedAt, se.UpdatedAt = moment(created), moment(updated)
	return se, err
}

// Sessions returns the selected sessions with their files, the latest first.
func (s *Store) Sessions(ctx context.Context, f Filter) ([]memoir.Session, error) {
	var sessions []memoir.Session
	err := s.read(ctx, func(t tx) (err error) {
		sessions, err = selectSessions(t, f)
		return err
	})
	return sessions, s.explain(err, "listing sessions")
}

func selectSessions(t tx, f Filter) ([]memoir.Session, error) {
	where, args := ` WHERE 1`, []any{}
	if f.Project != "" {
		where, args = where+` AND s.project_id = ?`, append(args, f.Project)
	}
	if f.Source != "" {
		where, args = where+` AND s.source = ?`, append(args, string(f.Source))
	}
	if f.Reason != "" {
		where, args = where+` AND s.reason = ?`, append(args, string(f.Reason))
	}
	if f.Keys != nil {
		where, args = where+` AND s.key IN (SELECT value FROM json_each(?))`, append(args, jsonList(f.Keys))
	}
	sessions := []memoir.Session{}
	at := map[string]int{}
	err := t.each(`SELECT `+sessionColumns+` FROM session s`+where+` ORDER BY s.updated_at DESC, s.key`, args,
		func(scan func(...any) error) error {
			se, err := scanSession(scan)
			at[se.Key()] = len(sessions)
			sessions = append(sessions, se)
			return err
		})
	if err != nil {
		return nil, err
	}
	err = t.each(`SELECT f.session_key, f.path, f.size, f.mtime_ns, f.inode FROM session s
		JOIN file f ON f.session_key = s.key`+where+
		` AND f.position >= 0 ORDER BY f.session_key, f.position`, args,
		func(scan func(...any) error) error {
			var key string
			f, err := scanFile(scan, &key)
			i := at[key]
			sessions[i].Files = append(sessions[i].Files, f)
			return err
		})
	return sessions, err
}

func scanFile(scan func(...any) error, before ...any) (memoir.File, error) {
	var f memoir.File
	var mtime, inode int64
	err := scan(append(before, &f.Path, &f.Size, &mtime, &inode)...)
	f.ModTime, f.Inode = time.Unix(0, mtime).UTC(), uint64(inode)
	return f, err
}

// FindSessions returns the sessions that ref names: a key or a thread id, else the
// beginning of one. Several results mean that ref is not enough to tell; none, an
// error of code CodeNotFound.
func (s *Store) FindSessions(ctx context.Context, ref string) ([]memoir.Session, error) {
	if ref == "" {
		return nil, memoir.Errorf(memoir.CodeUsage, "", "no session named")
	}
	var sessions []memoir.Session
	err := s.read(ctx, func(t tx) error {
		keys, err := t.texts(`SELECT key FROM session WHERE key = ?1 OR thread_id = ?1`, ref)
		if err == nil && len(keys) == 0 {
			keys, err = t.texts(`SELECT key FROM session WHERE substr(thread_id, 1, length(?1)) = ?1
				OR substr(key, 1, length(?1)) = ?1`, ref)
		}
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return memoir.Errorf(memoir.CodeNotFound, "`memoir sessions` lists them", "no session matches %q", ref)
		}
		sessions, err = selectSessions(t, Filter{Keys: keys})
		return err
	})
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return nil, err // it says all that there is to say
	}
	return sessions, s.explain(err, "finding session %q", ref)
}

// SetDisabled keeps a session out of memory, or lets it in again. What was
// extracted from it stays stored, but is no input to a consolidation meanwhile.
func (s *Store) SetDisabled(ctx context.Context, key string, disabled bool) error {
	err := s.durably(ctx, func(t tx) error {
		// A mark that is not there says no already.
		changed, err := t.exec(`INSERT INTO mark (session_key, disabled, at) SELECT ?1, ?2, ?3
			WHERE ?2 <> coalesce((SELECT disabled FROM mark WHERE session_key = ?1), 0)
			ON CONFLICT (session_key) DO UPDATE SET disabled = excluded.disabled, at = excluded.at`,
			key, disabled, millis(s.now()))
		if err != nil || changed == 0 {
			return err
		}
		return s.markChanged(t, key)
	})
	return s.explain(err, "marking session %s", key)
}

// SetForgotten withdraws a session for good, as BeginForgetting and FinishForgetting
// do for one of a project, but without a word to the memory that rests on it: the
// next consolidation sees to that. False takes the tombstone off; the session is
// then as if never extracted, and the next scan looks at it again.
func (s *Store) SetForgotten(ctx context.Context, key string, forgotten bool) error {
	err := s.durably(ctx, func(t tx) error {
		var was bool
		var project string
		err := t.get(`SELECT coalesce((SELECT forgotten FROM mark WHERE session_key = ?1), 0),
			coalesce((SELECT project_id FROM extraction WHERE session_key = ?1),
				(SELECT project_id FROM session WHERE key = ?1), '')`, []any{key}, &was, &project)
		if err != nil || was == forgotten {
			return err
		}
		if !forgotten {
			_, err := t.exec(`UPDATE mark SET forgotten = 0, project_id = '', at = ? WHERE session_key = ?`,
				millis(s.now()), key)
			if err != nil {
				return err
			}
			if err := s.markChanged(t, key); err != nil {
				return err
			}
			// Forgetting may not be finished, and would not find it any more.
			if err := s.deleteExtracted(t, []string{key}); err != nil {
				return err
			}
			// No file has this time, so the next scan takes it for a changed one.
			_, err = t.exec(`UPDATE file SET mtime_ns = 0 WHERE session_key = ?`, key)
			return err
		}
		if err := s.markChanged(t, key); err != nil {
			return err
		}
		if err := s.bury(t, project, []string{key}); err != nil {
			return err
		}
		return s.deleteExtracted(t, []string{key})
	})
	return s.explain(err, "forgetting session %s", key)
}

// markChanged lets a changed mark take effect: on the session's reason, and on its
// project if there is an extraction that is now withdrawn or back.
func (s *Store) markChanged(t tx, key string) error {
	var project sql.NullString
	err := t.get(`SELECT project_id FROM extraction WHERE session_key = ?`, []any{key}, &project)
	if err == nil && project.Valid {
		if _, err := bump(t, project.String); err != nil {
			return err
		}
	} else if err != nil && err != sql.ErrNoRows {
		return err
	}
	var one int
	if err := t.get(`SELECT 1 FROM session WHERE key = ?`, []any{key}, &one); err == sql.ErrNoRows {
		return nil // marked ahead of its being found
	} else if err != nil {
		return err
	}
	return s.settle(t, key)
}

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
