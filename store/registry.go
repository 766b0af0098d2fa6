package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"memoir"
)

// FileRow is a registered file.
type FileRow struct {
	memoir.File
	SessionKey string          // the session that it belongs to; empty if none was recognised
	Head       json.RawMessage // result of the scanner for its head and tail, in the scanner's own form
	Error      string          // why it cannot be read
}

// SessionScan is the result of a scan for one session.
type SessionScan struct {
	// Session as found. Its project, if any, must be registered. Its Reason is ignored. Its Files
	// are those to read, in reading order; if there are none, Files below are read. The zero
	// Session registers files of no session.
	Session  memoir.Session
	Identity string // that its project was found by; empty if unknown
	// Files are all files of the session, also those that are not read, such as copies. Their
	// SessionKey is ignored.
	Files []FileRow
}

// Fingerprint returns the version of a session. It changes when the size, modification time or inode of
// one of its files changes; the names of files do not matter.
func Fingerprint(files []memoir.File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %d %d\n", f.Size, f.ModTime.UnixNano(), f.Inode)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Files returns all registered files by path, without their heads, which Heads returns.
func (s *Store) Files(ctx context.Context) (map[string]FileRow, error) {
	return fetch(ctx, s, func(t tx) map[string]FileRow {
		files := map[string]FileRow{}
		for scan := range t.rows(`SELECT coalesce(session_key, ''), error, path, size, mtime_ns, inode FROM file`) {
			var f FileRow
			f.File = scanFile(scan, &f.SessionKey, &f.Error)
			files[f.Path] = f
		}
		return files
	}, "listing registered files")
}

// Heads returns the recorded heads of files by path, without files that have none.
func (s *Store) Heads(ctx context.Context, paths []string) (map[string]json.RawMessage, error) {
	return fetchMap[json.RawMessage](ctx, s, "reading the heads of registered files", `SELECT path, CAST(head AS BLOB)
		FROM file WHERE head <> '' AND path IN (SELECT value FROM json_each(?))`, jsonList(paths))
}

// SaveScan records the results of a scan in one transaction: new and changed sessions, and the paths of
// missing files. A session whose files are missing keeps its row and its extraction. The extraction of a
// session moves with it to another project. A session that cannot be read keeps its project.
func (s *Store) SaveScan(ctx context.Context, scans []SessionScan, gone []string) error {
	if len(scans) == 0 && len(gone) == 0 {
		return nil
	}
	return s.explain(s.quickly(ctx, func(t tx) {
		for _, scan := range scans {
			s.saveScan(t, scan)
		}
		for _, path := range gone {
			s.removeFile(t, path)
		}
	}), "recording scan")
}

func (s *Store) saveScan(t tx, scan SessionScan) {
	var key sql.NullString
	read := scan.Session.Files
	if len(read) == 0 {
		read = memoir.Map(scan.Files, func(f FileRow) memoir.File { return f.File })
	}
	if scan.Session.ID != "" {
		key = sql.NullString{String: scan.Session.Key(), Valid: true}
		forgotten(t, &scan)
		s.saveSession(t, scan.Session, scan.Identity, Fingerprint(read))
	}
	rows := scan.Files
	for _, f := range scan.Session.Files {
		if !slices.ContainsFunc(rows, func(r FileRow) bool { return r.Path == f.Path }) {
			rows = append(slices.Clip(rows), FileRow{File: f})
		}
	}
	for _, f := range rows {
		at := -1
		if key.Valid {
			at = slices.IndexFunc(read, func(r memoir.File) bool { return r.Path == f.Path })
		}
		var before string // the session that the file belonged to
		t.find(`SELECT coalesce(session_key, '') FROM file WHERE path = ?`, []any{f.Path}, &before)
		t.exec(`INSERT INTO file (path, size, mtime_ns, inode, session_key, position, head, error)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, inode = excluded.inode,
				session_key = excluded.session_key, position = excluded.position, head = excluded.head, error = excluded.error`,
			f.Path, f.Size, f.ModTime.UnixNano(), int64(f.Inode), key, at, string(f.Head), f.Error)
		if before != "" && before != key.String {
			s.fileLost(t, before)
		}
	}
	s.settle(t, key.String)
}

// forgotten blanks the scan of a forgotten session, except for the fields that identify it.
func forgotten(t tx, scan *SessionScan) {
	if !t.exists(`SELECT 1 FROM mark WHERE session_key = ? AND forgotten`, scan.Session.Key()) {
		return
	}
	se := &scan.Session
	scan.Identity, se.ProjectID, se.Title, se.CWD, se.Branch, se.Remote, se.Error = "", "", "", "", "", "", ""
	scan.Files = slices.Clone(scan.Files)
	for i := range scan.Files {
		scan.Files[i].Head, scan.Files[i].Error = nil, ""
	}
}

func (s *Store) saveSession(t tx, se memoir.Session, identity, version string) {
	if se.ProjectID != "" {
		mustExist(t, se.ProjectID)
	}
	if se.Error == "" {
		moveSession(t, se.Key(), se.ProjectID)
	}
	kind := cmp.Or(se.Kind, memoir.KindMain)
	bytes := se.Bytes
	if bytes == 0 {
		for _, f := range se.Files {
			bytes += f.Size
		}
	}
	// It is right for most new sessions; settle corrects it.
	reason := Window{}.reason(facts{kind: kind, unreadable: se.Error != "", hasProject: se.ProjectID != ""}, s.now())
	// A file that was rewritten may begin later than the session did.
	t.exec(`INSERT INTO session (key, source, thread_id, project_id, kind, parent, title, cwd, branch, remote,
			bytes, created_at, updated_at, version, error, reason, origin)
		VALUES (?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET
			origin = iif(excluded.error <> '' OR origin <> '' AND project_id IS excluded.project_id, origin, excluded.origin),
			project_id = iif(excluded.error = '', excluded.project_id, project_id),
			kind = excluded.kind, parent = excluded.parent,
			title = excluded.title, cwd = excluded.cwd, branch = excluded.branch, remote = excluded.remote,
			bytes = excluded.bytes, created_at = iif(created_at = 0, excluded.created_at, min(created_at, excluded.created_at)),
			updated_at = excluded.updated_at,
			version = excluded.version, error = excluded.error`,
		se.Key(), string(se.Source), se.ID, se.ProjectID, string(kind), se.ParentID, se.Title, se.CWD, se.Branch, se.Remote,
		bytes, millis(se.CreatedAt), millis(se.UpdatedAt), version, se.Error, string(reason), identity)
}

// Retitle replaces the title of a session, also in the recorded heads of its files.
func (s *Store) Retitle(ctx context.Context, key, title string) error {
	return s.explain(s.quickly(ctx, func(t tx) {
		t.execAll([]any{title, key}, `UPDATE file SET head = json_set(head, '$.Title', ?1) WHERE session_key = ?2
				AND json_extract(head, '$.Title') = (SELECT title FROM session WHERE key = ?2)`,
			`UPDATE session SET title = ?1 WHERE key = ?2`)
	}), "changing the title of session %s", key)
}

func (s *Store) removeFile(t tx, path string) {
	var key string
	if t.find(`DELETE FROM file WHERE path = ? RETURNING coalesce(session_key, '')`, []any{path}, &key); key != "" {
		s.fileLost(t, key)
	}
}

// fileLost updates a session that lost a file. If it has no file left and its version was not extracted, it
// becomes unreadable. If it was an unreadable file that no run has claimed, its row is removed.
func (s *Store) fileLost(t tx, key string) {
	if t.exec(`DELETE FROM session WHERE key = ? AND error <> ''
			AND NOT EXISTS (SELECT 1 FROM file WHERE session_key = session.key)
			AND NOT EXISTS (SELECT 1 FROM job WHERE kind = 'extract' AND job.key = session.key)`, key) > 0 {
		return
	}
	changed := t.exec(`UPDATE session SET error = 'its files are gone' WHERE key = ?
			AND NOT EXISTS (SELECT 1 FROM file WHERE session_key = session.key)
			AND NOT EXISTS (SELECT 1 FROM job WHERE kind = 'extract' AND job.key = session.key
			AND done_version = session.version)`, key)
	if changed > 0 {
		s.settle(t, key)
	}
}

// mustExist fails with an error of code memoir.CodeNotFound unless the project exists: it may have been
// cleared since the caller resolved it.
func mustExist(t tx, id string) {
	if !t.exists(`SELECT 1 FROM project WHERE id = ?`, id) {
		t.fail(memoir.Errorf(memoir.CodeNotFound, "`memoir run` registers it", "project %s is not registered", id))
	}
}
