package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"memoir"
	"memoir/team/wire"
)

// Forgotten returns the keys of forgotten sessions. A scan assigns no project to them.
func (s *Store) Forgotten(ctx context.Context) (map[string]bool, error) {
	return fetchMap[bool](ctx, s, "listing forgotten sessions", `SELECT session_key, forgotten FROM mark WHERE forgotten`)
}

// ForgottenOf returns the keys of the forgotten sessions of a project.
func (s *Store) ForgottenOf(ctx context.Context, projectID string) ([]string, error) {
	return fetchTexts(ctx, s, "listing forgotten sessions of project "+projectID,
		`SELECT session_key FROM mark WHERE forgotten AND project_id = ? ORDER BY 1`, projectID)
}

// Forgetting says what to forget.
type Forgetting struct {
	Keys     []string // sessions; what Derived adds is forgotten with them
	Copies   []string // sessions that repeat them; they are as if never read
	Project  string   // id of a project that is forgotten as a whole, with its sessions; empty: none
	Text     string   // lines of the memories of Projects that contain it; empty: none
	Projects []string // ids; only with Text
	Purge    bool     // as in Withdrawal

	// Instead is an entry that replaces the forgotten ones, stored as by AddEntry, which sets its ID; nil: none. If one
	// of Keys no longer exists, the error has the code memoir.CodeNotFound, and nothing is stored.
	Instead    *memoir.Entry
	Statements []memoir.Statement // of Instead
}

// BeginForgetting writes tombstones for sessions and records which memories must be rewritten without them, in one
// durable transaction. It needs no lease: claims on the sessions and on a forgotten project are lost, the sessions are
// not inputs any more, and the registry has nothing of their content. Their extractions stay stored until the last
// FinishForgetting, since they say what to remove. The folder of a forgotten project remains to be removed: see
// RemovedFolders.
func (s *Store) BeginForgetting(ctx context.Context, f Forgetting) error {
	return s.explain(s.durably(ctx, func(t tx) {
		f := f
		for _, key := range f.derived(t) { // what another machine of this person sent of the same session, or noted as well
			of, session := string(memoir.SourceMachine)+":", wire.SessionHash(key, "")
			if memoir.IsReceived(key) { // it may be an input of several projects
				base, hash := memoir.ReceivedGroup(key)
				at := strings.LastIndex(base, hash)
				of, session = base[:at], base[at:]
			}
			theirs := t.texts(`SELECT key FROM session WHERE key >= ?1 AND key < ?1 || 'g'
				AND substr(key, -length(?2)) = ?2 AND instr(substr(key, length(?1) + 1), '-') = 0`, of, session)
			f.Keys = slices.Concat(f.Keys, theirs, keepAway(t, key))
		}
		var groups []string
		for _, key := range f.Keys {
			base, _ := memoir.ReceivedGroup(key)
			groups = append(groups, base)
		}
		s.beginForgetting(t, f)
		t.exec(`UPDATE received SET statements = '' WHERE session IN (SELECT value FROM json_each(?))`, jsonList(groups))
	}), "forgetting sessions")
}

func (s *Store) beginForgetting(t tx, f Forgetting) {
	if f.Instead != nil {
		s.addInstead(t, f)
	}
	if t.exec(endEpoch); t.ok() {
		t.fail(s.dropBackup()) // it has their content
	}
	keys := f.derived(t)
	// Sessions move, so several memories may depend on one.
	copies := slices.DeleteFunc(slices.Clone(f.Copies), func(key string) bool { return slices.Contains(keys, key) })
	projects := t.texts(`SELECT id FROM project WHERE id <> ?2 AND id IN (
		SELECT project_id FROM extraction WHERE session_key IN (SELECT value FROM json_each(?1))
		UNION SELECT project_id FROM session WHERE key IN (SELECT value FROM json_each(?1))
		UNION SELECT project_id FROM mark WHERE forgotten AND session_key IN (SELECT value FROM json_each(?1))
		UNION SELECT project_id FROM generation_input WHERE session_key IN (SELECT value FROM json_each(?1)))`,
		jsonList(slices.Concat(keys, copies)), f.Project)
	s.bury(t, keys)
	s.unread(t, copies)
	beginWithdrawal(t, projects, "", f.Purge)
	if f.Text != "" {
		beginWithdrawal(t, f.Projects, f.Text, f.Purge)
	}
	if f.Purge {
		beginPurge(t)
	}
	if f.Project != "" {
		forgetProject(t, f.Project)
	}
	dropForgotten(t)
}

// addInstead adds the entry that replaces forgotten ones, if all of them still exist.
func (s *Store) addInstead(t tx, f Forgetting) {
	gone := t.texts(`SELECT value FROM json_each(?) WHERE value NOT IN (SELECT session_key FROM searchable)
		AND value NOT LIKE 'machine:%'`, jsonList(f.Keys))
	if len(gone) > 0 {
		t.fail(memoir.Errorf(memoir.CodeNotFound, "it was changed or forgotten meanwhile", "note #%d no longer exists",
			memoir.EntryID(gone[0])))
	}
	s.addEntry(t, f.Instead, f.Statements)
}

// beginWithdrawal makes projects due, and records that their memories must be rewritten without the forgotten sessions
// and text.
func beginWithdrawal(t tx, projects []string, text string, purge bool) {
	t.execAll([]any{jsonList(projects), text, purge},
		`UPDATE project SET change_seq = change_seq + 1 WHERE id IN (SELECT value FROM json_each(?1))`,
		`INSERT INTO withdrawal (project_id, texts, seq, purge) SELECT id, iif(?2 = '', '[]', json_array(?2)), change_seq, ?3
			FROM project WHERE id IN (SELECT value FROM json_each(?1)) ON CONFLICT DO UPDATE SET seq = excluded.seq,
			texts = iif(?2 = '', texts, json_insert(texts, '$[#]', ?2)), purge = max(purge, excluded.purge)`,
		// It may quote the forgotten text. A mark keeps the failure itself known.
		`UPDATE job SET last_error = '`+removedMessage+`' WHERE kind = 'consolidate' AND last_error <> ''
			AND key IN (SELECT value FROM json_each(?1))`)
}

// removedMessage replaces an error message that may quote a forgotten text.
const removedMessage = `(message removed: something was forgotten since)`

// Derived returns the sessions to forget, with those of the project and what was made from them: the sessions of their
// subagents, whose prompts repeat their text, and entries that were written from them.
func (s *Store) Derived(ctx context.Context, f Forgetting) ([]string, error) {
	return fetch(ctx, s, f.derived, "looking for what was made from sessions")
}

func (f Forgetting) derived(t tx) []string {
	below := t.texts(`WITH RECURSIVE below (key, source, thread_id) AS (
			SELECT key, source, thread_id FROM session WHERE key IN (SELECT value FROM json_each(?1)) OR project_id = ?2
				OR key IN (SELECT session_key FROM extraction WHERE project_id = ?2)
			UNION SELECT s.key, s.source, s.thread_id FROM session s JOIN below b
				ON s.kind = 'subagent' AND s.source = b.source AND s.parent = b.thread_id
				OR s.kind = 'entry' AND s.parent = b.key
		) SELECT key FROM below`, jsonList(f.Keys), f.Project)
	out := append(below, f.Keys...) // some may not be registered
	slices.Sort(out)
	return slices.Compact(out)
}

// bury writes tombstones for sessions, with the project that they belong to. It blanks all columns of the registry
// except those that identify them.
func (s *Store) bury(t tx, keys []string) {
	list := jsonList(keys)
	t.exec(`INSERT INTO mark (session_key, forgotten, at, project_id)
		SELECT value, 1, ?, coalesce((SELECT project_id FROM extraction WHERE session_key = value),
			(SELECT project_id FROM session WHERE key = value),
			(SELECT max(project_id) FROM generation_input WHERE session_key = value), '')
			FROM json_each(?) WHERE true
		ON CONFLICT (session_key) DO UPDATE SET forgotten = 1, at = iif(forgotten, at, excluded.at),
			project_id = iif(forgotten AND project_id <> '', project_id, excluded.project_id)`, millis(s.now()), list)
	// Directories in which only these sessions began, unless they are the project.
	const began = `(SELECT 1 FROM session s WHERE s.project_id = d.project_id
		AND substr(s.cwd || '/', 1, length(d.path) + 1) = d.path || '/' AND s.key `
	t.execEach(list,
		`DELETE FROM project_directory AS d WHERE path <> (SELECT identity FROM project WHERE id = d.project_id)
			AND EXISTS `+began+`IN (SELECT value FROM json_each(?1)))
			AND NOT EXISTS `+began+`NOT IN (SELECT value FROM json_each(?1)))`,
		`DELETE FROM job WHERE kind = 'extract' AND key IN (SELECT value FROM json_each(?))`,
		`UPDATE session SET project_id = NULL, title = '', cwd = '', branch = '', remote = '', error = '', origin = ''
			WHERE key IN (SELECT value FROM json_each(?))`,
		`UPDATE file SET head = '', error = '' WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM searchable WHERE session_key IN (SELECT value FROM json_each(?))`, // with its messages
		`DELETE FROM said WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM fallback WHERE session_key IN (SELECT value FROM json_each(?))`,
		`UPDATE run SET reason = '', hint = '' WHERE ?1 <> '[]' AND reason <> ''`, // it may quote one of them
	)
	s.settle(t, keys...)
}

// unread deletes what was read of sessions, so that the next run reads them again.
func (s *Store) unread(t tx, keys []string) {
	deleteExtracted(t, keys)
	t.execEach(jsonList(keys),
		`DELETE FROM job WHERE kind = 'extract' AND key IN (SELECT value FROM json_each(?))`,
		`UPDATE session SET title = '' WHERE key IN (SELECT value FROM json_each(?))`,
		// No file has this time, so the next scan treats it as changed.
		`UPDATE file SET mtime_ns = 0, head = iif(head = '', '', json_set(head, '$.Title', ''))
			WHERE session_key IN (SELECT value FROM json_each(?))`)
	s.settle(t, keys...)
}

// RemoveEmpty deletes a project whose memory was rewritten and to which nothing belongs any more: no session, note or
// hand edit. Its name is that of a directory in which a forgotten session began.
func (s *Store) RemoveEmpty(ctx context.Context, projectID string) error {
	return s.explain(s.durably(ctx, func(t tx) {
		if !t.exists(`SELECT 1 FROM session WHERE project_id = ?1
			UNION ALL SELECT 1 FROM extraction WHERE project_id = ?1
			UNION ALL SELECT 1 FROM hand_edit WHERE project_id = ?1
			UNION ALL SELECT 1 FROM withdrawal WHERE project_id = ?1`, projectID) {
			forgetProject(t, projectID)
		}
	}), "removing project %s", projectID)
}

func forgetProject(t tx, id string) {
	t.exec(`UPDATE ledger SET project_id = '' WHERE project_id = ?`, id)
	removeProject(t, id)
}

// dropForgotten deletes what was extracted from forgotten sessions, once no memory must be rewritten without it.
func dropForgotten(t tx) {
	deleteExtracted(t, t.texts(`SELECT session_key FROM mark WHERE forgotten AND NOT EXISTS (SELECT 1 FROM withdrawal)`))
}

// deleteExtracted deletes the extractions, messages and counts of sessions.
func deleteExtracted(t tx, keys []string) {
	t.execEach(jsonList(keys),
		`DELETE FROM extraction WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM redaction WHERE scope = 'extract' AND key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM skipped_record WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM searchable WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM said WHERE session_key IN (SELECT value FROM json_each(?))`,
		`UPDATE session SET taken = '' WHERE key IN (SELECT value FROM json_each(?))`,
	)
}

// Withdrawal is a forgetting that was begun and not finished.
type Withdrawal struct {
	ProjectID string
	Texts     []string // lines that contain one of them are removed as well
	Seq       int64    // argument of FinishForgetting
	Purge     bool     // also remove earlier generations that depend on the forgotten sessions
}

// Withdrawals lists the unfinished withdrawals, one for each project.
func (s *Store) Withdrawals(ctx context.Context) ([]Withdrawal, error) {
	return fetch(ctx, s, func(t tx) []Withdrawal {
		return collect(t, func(scan scanner, w *Withdrawal) {
			var texts []byte
			scan(&w.ProjectID, &texts, &w.Seq, &w.Purge)
			t.fail(json.Unmarshal(texts, &w.Texts))
		}, `SELECT project_id, texts, seq, purge FROM withdrawal ORDER BY 1`)
	}, "listing pending withdrawals")
}

// WithdrawnExtractions returns the extractions of forgotten sessions that are not deleted yet.
func (s *Store) WithdrawnExtractions(ctx context.Context) ([]memoir.Extraction, error) {
	return fetchAll(ctx, s, "reading forgotten texts", scanExtraction, `SELECT `+extractionColumns+` FROM extraction e
		JOIN mark m ON m.session_key = e.session_key WHERE m.forgotten ORDER BY e.session_key`)
}

// FinishForgetting ends the withdrawals of a project up to a change sequence, after a memory without them
// was published. The last one deletes the extractions of the forgotten sessions. Each recorded hand edit is replaced
// by the result of edit, or deleted if edit returns false.
func (s *Store) FinishForgetting(
	ctx context.Context, projectID string, seq int64, edit func(memoir.HandEdit) (memoir.HandEdit, bool),
) error {
	return s.explain(s.durably(ctx, func(t tx) {
		changeHandEdits(t, projectID, edit)
		t.exec(`DELETE FROM withdrawal WHERE project_id = ? AND seq <= ?`, projectID, seq)
		dropForgotten(t)
	}), "forgetting in project %s", projectID)
}

func changeHandEdits(t tx, projectID string, edit func(memoir.HandEdit) (memoir.HandEdit, bool)) {
	for _, n := range collect(t, func(scan scanner, n *memoir.HandEdit) {
		scan(&n.ID, &n.File, (*string)(&n.Action), &n.Section, &n.After, &n.Text)
	}, `SELECT id, file, action, section, after, text FROM hand_edit WHERE project_id = ? ORDER BY id`, projectID) {
		edited, keep := edit(n)
		switch {
		case !keep:
			t.exec(`DELETE FROM hand_edit WHERE id = ?`, n.ID)
		case edited != n: // another edit may say the same by now
			t.exec(`UPDATE OR REPLACE hand_edit SET section = ?, after = ?, text = ? WHERE id = ?`,
				edited.Section, edited.After, edited.Text, n.ID)
		}
	}
}
