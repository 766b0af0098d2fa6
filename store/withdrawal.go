package store

import (
	"cmp"
	"context"
	"slices"

	"memoir"
)

// Forgotten returns the keys of forgotten sessions. A scan assigns no project to them.
func (s *Store) Forgotten(ctx context.Context) (map[string]bool, error) {
	return fetch(ctx, s, func(t tx) (map[string]bool, error) {
		forgotten := map[string]bool{}
		keys, err := t.texts(`SELECT session_key FROM mark WHERE forgotten`)
		for _, key := range keys {
			forgotten[key] = true
		}
		return forgotten, err
	}, "listing forgotten sessions")
}

// ForgottenOf returns the keys of the forgotten sessions of a project.
func (s *Store) ForgottenOf(ctx context.Context, projectID string) ([]string, error) {
	return fetch(ctx, s, func(t tx) ([]string, error) { return forgottenOf(t, projectID) },
		"listing forgotten sessions of project %s", projectID)
}

func forgottenOf(t tx, projectID string) ([]string, error) {
	return t.texts(`SELECT session_key FROM mark WHERE forgotten AND project_id = ? ORDER BY 1`, projectID)
}

// Forgetting says what to forget.
type Forgetting struct {
	Keys  []string // sessions; their subagents' sessions are forgotten with them
	Text  string   // lines that contain it are removed as well; empty: none
	Purge bool     // as in Withdrawal

	// Instead is an entry that replaces the forgotten ones, stored as by AddEntry; nil: none. If one of Keys no longer
	// exists, the error has the code memoir.CodeNotFound, and nothing is stored.
	Instead    *memoir.Entry
	Statements []memoir.Statement // of Instead
}

// BeginForgetting writes tombstones for sessions of the claimed project and records that its memory must
// be rewritten without them, in one durable transaction. From then on the sessions are not inputs, claims
// on them are lost, and the registry has nothing of their content. Their extractions stay stored until
// FinishForgetting, since they say what to remove.
func (s *Store) BeginForgetting(ctx context.Context, c ProjectClaim, f Forgetting) error {
	return s.explain(s.durably(ctx, func(t tx) error {
		if err := c.unexpired(t, s.ticks()); err != nil {
			return err
		}
		if f.Instead != nil {
			if err := s.addInstead(t, f); err != nil {
				return err
			}
		}
		if _, err := s.bury(t, c.ProjectID, f.Keys, f.Purge); err != nil {
			return err
		}
		return beginWithdrawal(t, c.ProjectID, f.Text, f.Purge)
	}), "forgetting sessions")
}

// ForgetUnplaced forgets sessions that belong to no project, whole.
func (s *Store) ForgetUnplaced(ctx context.Context, keys []string, purge bool) error {
	return s.explain(s.durably(ctx, func(t tx) error {
		all, err := s.bury(t, "", keys, purge)
		if err != nil {
			return err
		}
		return deleteExtracted(t, all)
	}), "forgetting sessions")
}

// addInstead adds the entry that replaces forgotten ones, if all of them still exist.
func (s *Store) addInstead(t tx, f Forgetting) error {
	gone, err := t.texts(`SELECT value FROM json_each(?) WHERE value NOT IN (SELECT session_key FROM searchable)`,
		jsonList(f.Keys))
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		return memoir.Errorf(memoir.CodeNotFound, "it was changed or forgotten meanwhile", "note #%d no longer exists",
			memoir.EntryID(gone[0]))
	}
	return s.addEntry(t, f.Instead, f.Statements)
}

// bury writes the tombstones of a project's sessions and their subagents, and returns the keys of all. The backup,
// which has their content, is removed first. Sessions move, so the memory of another project may depend on one.
func (s *Store) bury(t tx, projectID string, keys []string, purge bool) ([]string, error) {
	if err := s.dropBackup(); err != nil {
		return nil, err
	}
	keys, err := withSubagents(t, keys)
	if err != nil {
		return nil, err
	}
	others, err := t.texts(`SELECT DISTINCT project_id FROM extraction WHERE project_id IS NOT NULL AND project_id <> ?
		AND session_key IN (SELECT value FROM json_each(?))`, projectID, jsonList(keys))
	if err == nil {
		err = s.forget(t, projectID, keys)
	}
	for _, id := range others {
		if err == nil {
			err = beginWithdrawal(t, id, "", purge)
		}
	}
	if err == nil && purge {
		err = beginPurge(t)
	}
	return keys, err
}

// beginWithdrawal makes a project due, and records that its memory must be rewritten without the
// forgotten sessions and text.
func beginWithdrawal(t tx, projectID, text string, purge bool) error {
	seq, err := bump(t, projectID)
	if err != nil {
		return err
	}
	if _, err := t.exec(`INSERT INTO withdrawal (project_id, text, seq, purge) VALUES (?, ?, ?, ?)
		ON CONFLICT (project_id, text) DO UPDATE
			SET seq = excluded.seq, purge = max(purge, excluded.purge), error = ''`, projectID, text, seq, purge); err != nil {
		return err
	}
	return t.execEach(projectID,
		`UPDATE withdrawal SET error = '' WHERE project_id = ?`,
		// It may quote the forgotten text. A mark keeps the failure itself known.
		`UPDATE job SET last_error = '`+removedMessage+`' WHERE kind = 'consolidate' AND key = ? AND last_error <> ''`,
	)
}

// removedMessage replaces an error message that may quote a forgotten text.
const removedMessage = `(message removed: something was forgotten since)`

// withSubagents adds the sessions of subagents, since their prompts repeat text of the sessions that started them.
func withSubagents(t tx, keys []string) ([]string, error) {
	below, err := t.texts(`WITH RECURSIVE below (key, source, thread_id) AS (
			SELECT key, source, thread_id FROM session WHERE key IN (SELECT value FROM json_each(?))
			UNION SELECT s.key, s.source, s.thread_id FROM session s JOIN below b
				ON s.kind = 'subagent' AND s.source = b.source AND s.parent = b.thread_id
		) SELECT key FROM below`, jsonList(keys))
	out := append(slices.Clone(keys), below...)
	slices.Sort(out)
	return slices.Compact(out), err
}

// forget writes tombstones for sessions, with the project that they belong to or else the given one. It
// blanks all columns of the registry except those that identify them.
func (s *Store) forget(t tx, projectID string, keys []string) error {
	list := jsonList(keys)
	_, err := t.exec(`INSERT INTO mark (session_key, forgotten, at, project_id)
		SELECT value, 1, ?, coalesce((SELECT project_id FROM extraction WHERE session_key = value),
			(SELECT project_id FROM session WHERE key = value), ?)
			FROM json_each(?) WHERE true
		ON CONFLICT (session_key) DO UPDATE SET forgotten = 1, at = iif(forgotten, at, excluded.at),
			project_id = iif(forgotten AND project_id <> '', project_id, excluded.project_id)`, millis(s.now()), projectID, list)
	if err != nil {
		return err
	}
	err = t.execEach(list,
		`DELETE FROM job WHERE kind = 'extract' AND key IN (SELECT value FROM json_each(?))`,
		`UPDATE session SET project_id = NULL, title = '', cwd = '', branch = '', remote = '', error = '', origin = ''
			WHERE key IN (SELECT value FROM json_each(?))`,
		`UPDATE file SET head = '', error = '' WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM searchable WHERE session_key IN (SELECT value FROM json_each(?))`, // with its messages
		`DELETE FROM fallback WHERE session_key IN (SELECT value FROM json_each(?))`,
		`UPDATE run SET reason = '', hint = '' WHERE ?1 <> '[]' AND reason <> ''`, // it may quote one of them
	)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := s.settle(t, key); err != nil {
			return err
		}
	}
	return nil
}

// deleteExtracted deletes the extractions, messages and counts of sessions.
func deleteExtracted(t tx, keys []string) error {
	return t.execEach(jsonList(keys),
		`DELETE FROM extraction WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM redaction WHERE scope = 'extract' AND key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM skipped_record WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM searchable WHERE session_key IN (SELECT value FROM json_each(?))`,
	)
}

// Withdrawal is a forgetting that was begun and not finished.
type Withdrawal struct {
	ProjectID string
	Texts     []string // lines that contain one of them are removed as well
	Seq       int64    // argument of FinishForgetting
	Error     string   // why the last try failed; empty: none did
	Purge     bool     // also remove earlier generations that depend on the forgotten sessions
}

// Withdrawals lists the unfinished withdrawals, ordered by project.
func (s *Store) Withdrawals(ctx context.Context) ([]Withdrawal, error) {
	var all []Withdrawal
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT project_id, text, seq, purge, error FROM withdrawal ORDER BY project_id, text`, nil,
			func(scan scanner) error {
				var w Withdrawal
				var text string
				if err := scan(&w.ProjectID, &text, &w.Seq, &w.Purge, &w.Error); err != nil {
					return err
				}
				if n := len(all); n == 0 || all[n-1].ProjectID != w.ProjectID {
					all = append(all, Withdrawal{ProjectID: w.ProjectID})
				}
				last := &all[len(all)-1]
				last.Seq, last.Purge = max(last.Seq, w.Seq), last.Purge || w.Purge
				last.Error = cmp.Or(last.Error, w.Error)
				if text != "" {
					last.Texts = append(last.Texts, text)
				}
				return nil
			})
	})
	return all, s.explain(err, "listing pending withdrawals")
}

// WithdrawalFailed records why forgetting in a project could not be finished; the reason is redacted.
func (s *Store) WithdrawalFailed(ctx context.Context, projectID, reason string) error {
	err := s.quickly(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE withdrawal SET error = ? WHERE project_id = ? AND error <> ?`, reason, projectID, reason)
		return err
	})
	return s.explain(err, "recording why project %s could not forget", projectID)
}

// WithdrawnExtractions returns the extractions of a project's forgotten sessions that FinishForgetting
// has not deleted yet.
func (s *Store) WithdrawnExtractions(ctx context.Context, projectID string) ([]memoir.Extraction, error) {
	return fetch(ctx, s, func(t tx) ([]memoir.Extraction, error) {
		return collect(t, `SELECT `+extractionColumns+` FROM extraction e JOIN mark m ON m.session_key = e.session_key
			WHERE m.forgotten AND m.project_id = ? ORDER BY e.session_key`, []any{projectID}, scanExtraction)
	}, "reading forgotten texts")
}

// FinishForgetting ends the withdrawals of a project up to a change sequence, after a memory without them
// was published. It deletes the extractions of the forgotten sessions. Each recorded hand edit is replaced
// by the result of edit, or deleted if edit returns false.
func (s *Store) FinishForgetting(
	ctx context.Context, projectID string, seq int64, edit func(memoir.HandEdit) (memoir.HandEdit, bool),
) error {
	err := s.durably(ctx, func(t tx) error {
		keys, err := forgottenOf(t, projectID)
		if err != nil {
			return err
		}
		if err := deleteExtracted(t, keys); err != nil {
			return err
		}
		if err := changeHandEdits(t, projectID, edit); err != nil {
			return err
		}
		_, err = t.exec(`DELETE FROM withdrawal WHERE project_id = ? AND seq <= ?`, projectID, seq)
		return err
	})
	return s.explain(err, "forgetting in project %s", projectID)
}

func changeHandEdits(t tx, projectID string, edit func(memoir.HandEdit) (memoir.HandEdit, bool)) error {
	edits, err := collect(t, `SELECT id, file, action, section, after, text FROM hand_edit
		WHERE project_id = ? ORDER BY id`,
		[]any{projectID}, func(scan scanner, n *memoir.HandEdit) error {
			return scan(&n.ID, &n.File, (*string)(&n.Action), &n.Section, &n.After, &n.Text)
		})
	if err != nil {
		return err
	}
	for _, n := range edits {
		edited, keep := edit(n)
		switch {
		case !keep:
			_, err = t.exec(`DELETE FROM hand_edit WHERE id = ?`, n.ID)
		case edited != n: // another edit may say the same by now
			_, err = t.exec(`UPDATE OR REPLACE hand_edit SET section = ?, after = ?, text = ? WHERE id = ?`,
				edited.Section, edited.After, edited.Text, n.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remembering returns the projects whose memories depend on sessions, now or in an earlier generation:
// project id -> keys. A session that no memory depends on is listed under its own project, or under ""
// if it has none.
func (s *Store) Remembering(ctx context.Context, keys []string) (map[string][]string, error) {
	return fetch(ctx, s, func(t tx) (map[string][]string, error) {
		found := map[string][]string{}
		err := t.each(`SELECT k.value, coalesce(e.project_id, s.project_id, p.id, '') FROM json_each(?1) k
			LEFT JOIN extraction e ON e.session_key = k.value LEFT JOIN session s ON s.key = k.value
			LEFT JOIN mark m ON m.session_key = k.value LEFT JOIN project p ON p.id = m.project_id
			UNION SELECT session_key, project_id FROM generation_input
			WHERE session_key IN (SELECT value FROM json_each(?1)) ORDER BY 1`, []any{jsonList(keys)}, func(scan scanner) error {
			var key, project string
			err := scan(&key, &project)
			found[project] = append(found[project], key)
			return err
		})
		return found, err
	}, "looking for memories of sessions")
}
