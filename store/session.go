package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"memoir"
)

// Filter selects sessions; empty fields select all.
type Filter struct {
	Project      string // id
	Source       memoir.Source
	Reason       memoir.Reason
	Keys         []string
	Listed       bool      // no entries and nothing received, unless Source names them
	Since, Until time.Time // the last change: not before Since, before Until
	First, Most  int       // of Sessions: skips First, and returns at most Most
	NoFiles      bool      // Sessions leaves out their files: nearly half of what it reads
}

func (f Filter) where() (where string, args []any) {
	return and(condition{`s.project_id = ?`, f.Project != "", f.Project},
		condition{`s.source = ?`, f.Source != "", string(f.Source)},
		condition{`s.reason = ?`, f.Reason != "", string(f.Reason)},
		condition{`s.key IN (SELECT value FROM json_each(?))`, f.Keys != nil, jsonList(f.Keys)},
		condition{`s.kind <> ?`, f.Listed && f.Source == "", string(memoir.KindEntry)},
		condition{`s.updated_at >= ?`, !f.Since.IsZero(), millis(f.Since)},
		condition{`s.updated_at > 0 AND s.updated_at < ?`, !f.Until.IsZero(), millis(f.Until)})
}

const sessionColumns = `s.key, s.source, s.thread_id, coalesce(s.project_id, ''), s.kind, s.parent, s.title, s.cwd,
	s.branch, s.remote,
	s.bytes, s.created_at, s.updated_at, s.reason,
	CASE WHEN s.error <> '' THEN s.error
		ELSE coalesce((SELECT last_error FROM job WHERE kind = 'extract' AND job.key = s.key), '') END`

func scanSession(scan scanner, se *memoir.Session) {
	var key string
	scan(&key, (*string)(&se.Source), &se.ID, &se.ProjectID, (*string)(&se.Kind), &se.ParentID, &se.Title, &se.CWD,
		&se.Branch, &se.Remote, &se.Bytes, timeColumn{&se.CreatedAt}, timeColumn{&se.UpdatedAt}, (*string)(&se.Reason),
		&se.Error)
}

// Sessions returns the selected sessions with their files, the latest first.
func (s *Store) Sessions(ctx context.Context, f Filter) ([]memoir.Session, error) {
	return fetch(ctx, s, func(t tx) []memoir.Session { return selectSessions(t, f) }, "listing sessions")
}

func selectSessions(t tx, f Filter) []memoir.Session {
	where, args := f.where()
	if where += ` ORDER BY s.updated_at DESC, s.key`; f.Most > 0 {
		where, args = where+` LIMIT ? OFFSET ?`, append(args, f.Most, f.First)
	}
	sessions := collect(t, scanSession, `SELECT `+sessionColumns+` FROM session s WHERE 1`+where, args...)
	if f.NoFiles {
		return sessions
	}
	at, keys := make(map[string]int, len(sessions)), make([]string, len(sessions))
	for i, se := range sessions {
		keys[i] = se.Key()
		at[keys[i]] = i
	}
	for scan := range t.rows(`SELECT session_key, path, size, mtime_ns, inode FROM file
		WHERE session_key IN (SELECT value FROM json_each(?)) AND position >= 0
		ORDER BY session_key, position`, jsonList(keys)) {
		var key string
		f := scanFile(scan, &key)
		sessions[at[key]].Files = append(sessions[at[key]].Files, f)
	}
	return sessions
}

// CountSessions counts the selected sessions.
func (s *Store) CountSessions(ctx context.Context, f Filter) (int, error) {
	return fetch(ctx, s, func(t tx) (n int) {
		where, args := f.where()
		t.get(`SELECT count(*) FROM session s WHERE 1`+where, args, &n)
		return n
	}, "counting sessions")
}

// Entitle gives sessions the titles of what they did, where extractions have them.
func (s *Store) Entitle(ctx context.Context, sessions []memoir.Session) error {
	keys := memoir.Map(sessions, memoir.Session.Key)
	titles, err := fetchMap[string](ctx, s, "reading titles", `SELECT session_key, title FROM extraction
		WHERE title <> '' AND session_key IN (SELECT value FROM json_each(?))`, jsonList(keys))
	for i := range sessions {
		sessions[i].Title = cmp.Or(titles[sessions[i].Key()], sessions[i].Title)
	}
	return err
}

// scanFile reads a file's columns behind others.
func scanFile(scan scanner, before ...any) (f memoir.File) {
	var mtime, inode int64
	scan(append(before, &f.Path, &f.Size, &mtime, &inode)...)
	f.ModTime, f.Inode = time.Unix(0, mtime).UTC(), uint64(inode)
	return f
}

// FindSessions returns the sessions that ref names: by key or thread id, else by the beginning of one.
// Several results mean that ref is ambiguous. If there is none, the error has the code CodeNotFound.
func (s *Store) FindSessions(ctx context.Context, ref string) ([]memoir.Session, error) {
	if ref == "" {
		return nil, memoir.Errorf(memoir.CodeUsage, "", "no session given")
	}
	sessions, err := fetch(ctx, s, func(t tx) []memoir.Session {
		keys := t.texts(`SELECT key FROM session WHERE key = ?1 OR thread_id = ?1`, ref)
		if len(keys) == 0 {
			keys = t.texts(`SELECT key FROM session WHERE thread_id >= ?1 AND thread_id < ?1 || char(0x10ffff)
				OR key >= ?1 AND key < ?1 || char(0x10ffff)`, ref)
		}
		return selectSessions(t, Filter{Keys: keys})
	}, "finding session %q", ref)
	if err == nil && len(sessions) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "`memoir sessions` lists them", "no session matches %q", ref)
	}
	return sessions, err
}

// Marked returns whether a person disabled a session, and whether it was forgotten. Its reason may be another.
func (s *Store) Marked(ctx context.Context, key string) (disabled, forgotten bool, err error) {
	err = s.read(ctx, func(t tx) {
		t.get(`SELECT coalesce(max(disabled), 0), coalesce(max(forgotten), 0) FROM mark WHERE session_key = ?`,
			[]any{key}, &disabled, &forgotten)
	})
	return disabled, forgotten, s.explain(err, "reading the mark of session %s", key)
}

// SetDisabled disables a session or enables it again. Its extraction stays stored, but is not an input of
// consolidations while it is disabled.
func (s *Store) SetDisabled(ctx context.Context, key string, disabled bool) error {
	return s.explain(s.durably(ctx, func(t tx) {
		// A missing mark means enabled.
		changed := t.exec(`INSERT INTO mark (session_key, disabled, at) SELECT ?1, ?2, ?3
			WHERE ?2 <> coalesce((SELECT disabled FROM mark WHERE session_key = ?1), 0)
			ON CONFLICT (session_key) DO UPDATE SET disabled = excluded.disabled, at = excluded.at`,
			key, disabled, millis(s.now()))
		if changed > 0 {
			s.markChanged(t, key)
		}
	}), "marking session %s", key)
}

// Unforget removes the tombstone of a session, if it has one. The session is then as if never extracted,
// and the next scan reads it again.
func (s *Store) Unforget(ctx context.Context, key string) error {
	return s.explain(s.durably(ctx, func(t tx) {
		if t.exec(`UPDATE mark SET forgotten = 0, project_id = '', at = ? WHERE session_key = ? AND forgotten`,
			millis(s.now()), key) > 0 {
			s.markChanged(t, key)
			s.unread(t, []string{key}) // an unfinished withdrawal would no longer find it
		}
	}), "admitting session %s again", key)
}

// Directories returns the directories in which registered sessions began, each once, in order.
func (s *Store) Directories(ctx context.Context) ([]string, error) {
	return fetchTexts(ctx, s, "listing directories", `SELECT DISTINCT cwd FROM session WHERE cwd <> '' ORDER BY 1`)
}

// The values of the column mark.directory.
const (
	dirExcluded = "excluded" // the extractions of the directory's sessions are not inputs
	dirOff      = "off"      // the directory's sessions are not read; existing extractions stay inputs
)

// SetExcluded sets the directories that are excluded, and those in which memory is off. Sessions of both are
// not read and have the reason disabled, whatever SetDisabled did. Existing extractions of excluded sessions
// are no longer inputs, and their texts are deleted; those of sessions where memory is off stay. Sessions of all
// other directories are included again. If nothing changes, nothing is written.
func (s *Store) SetExcluded(ctx context.Context, excluded, off []string) error {
	state := map[string]string{}
	for _, dir := range off {
		state[dir] = dirOff
	}
	for _, dir := range excluded {
		state[dir] = dirExcluded
	}
	type change struct {
		key, of, to string
	}
	changes, err := fetch(ctx, s, func(t tx) (changes []change) {
		for scan := range t.rows(`SELECT s.key, s.cwd, coalesce(m.directory, '') FROM session s
			LEFT JOIN mark m ON m.session_key = s.key WHERE s.cwd IN (SELECT value FROM json_each(?)) OR m.directory <> ''
			ORDER BY s.key`, jsonList(slices.Sorted(maps.Keys(state)))) {
			var c change
			var dir string
			scan(&c.key, &dir, &c.of)
			if c.to = state[dir]; c.to != c.of {
				changes = append(changes, c)
			}
		}
		return changes
	}, "comparing excluded directories")
	if err != nil || len(changes) == 0 {
		return err
	}
	return s.explain(s.durably(ctx, func(t tx) {
		for _, c := range changes {
			t.exec(`INSERT INTO mark (session_key, directory, at) VALUES (?, ?, ?)
				ON CONFLICT (session_key) DO UPDATE SET directory = excluded.directory, at = excluded.at`,
				c.key, c.to, millis(s.now()))
			if c.to == dirExcluded {
				t.execEach(c.key, `DELETE FROM searchable WHERE session_key = ?`,
					`DELETE FROM said WHERE session_key = ?`, `UPDATE session SET taken = '' WHERE key = ?`)
			}
			if c.of == dirExcluded || c.to == dirExcluded {
				s.markChanged(t, c.key)
			} else {
				s.settle(t, c.key)
			}
		}
	}), "excluding directories")
}

// markChanged applies a changed mark to the session's reason and, if the session has an extraction, makes
// its project due. The session may not be registered yet.
func (s *Store) markChanged(t tx, key string) {
	t.execEach(key, `UPDATE project SET change_seq = change_seq + 1
			WHERE id = (SELECT project_id FROM extraction WHERE session_key = ?)`,
		// So that FileHistory files it if the history lacks it.
		`UPDATE extraction SET seq = (SELECT change_seq FROM project WHERE id = project_id)
			WHERE session_key = ? AND project_id IS NOT NULL`)
	s.settle(t, key)
}

// The reasons why a record was skipped.
const (
	SkippedUnknown   = "unknown"   // of a type that the agent's reader does not know
	SkippedMalformed = "malformed" // not JSON
	SkippedOversized = "oversized" // larger than the reader's limit
	SkippedCut       = "cut"       // the last one, incomplete
)

// Skipped counts skipped records of one session.
type Skipped struct {
	Why  string // one of the constants above
	Type string // of unknown records; text of the session, which the caller has cleaned
	N    int
}

// SkippedRow counts the skipped records of one agent's sessions with the same Why and Type.
type SkippedRow struct {
	Skipped  // N over all sessions
	Source   memoir.Source
	Sessions int
	Newest   string    // key of the session that was active last
	At       time.Time // of its last record
}

// SkippedRecords returns the skipped records of extracted sessions by agent and reason, the most frequent
// type first.
func (s *Store) SkippedRecords(ctx context.Context) ([]SkippedRow, error) {
	// Beside max, SQLite takes the other columns from the row that has it.
	return fetchAll(ctx, s, "reading skipped sessions", func(scan scanner, r *SkippedRow) {
		scan((*string)(&r.Source), &r.Why, &r.Type, &r.N, &r.Sessions, &r.Newest, timeColumn{&r.At})
	}, `SELECT s.source, k.why, k.type, sum(k.n), count(*), s.key, max(s.updated_at)
		FROM skipped_record k JOIN session s ON s.key = k.session_key
		GROUP BY s.source, k.why, k.type ORDER BY s.source, k.why, sum(k.n) DESC, k.type`)
}

// setSkipped replaces the counts of skipped records of a session.
func setSkipped(t tx, key string, skipped []Skipped) {
	t.execAll([]any{key, jsonOf(skipped)}, `DELETE FROM skipped_record WHERE session_key = ?1`,
		`INSERT INTO skipped_record (session_key, why, type, n)
			SELECT ?1, value ->> 'Why', value ->> 'Type', sum(value ->> 'N') FROM json_each(?2)
			WHERE type = 'object' AND value ->> 'N' > 0 GROUP BY 2, 3`)
}
