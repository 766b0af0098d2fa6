package store

import (
	"cmp"
	"context"
	"slices"

	"memoir"
)

// Forgotten returns the keys of sessions that were forgotten. A scan finds no
// project for them: what they belonged to does not come back.
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

// ForgottenOf returns the keys of sessions that were withdrawn from a project.
func (s *Store) ForgottenOf(ctx context.Context, projectID string) ([]string, error) {
	return fetch(ctx, s, func(t tx) ([]string, error) { return forgottenOf(t, projectID) },
		"listing forgotten sessions of project %s", projectID)
}

func forgottenOf(t tx, projectID string) ([]string, error) {
	return t.texts(`SELECT session_key FROM mark WHERE forgotten AND project_id = ? ORDER BY 1`, projectID)
}

// Forgetting says what is to be forgotten.
type Forgetting struct {
	Keys  []string // sessions; those of their subagents go with them
	Text  string   // lines that hold it go, too; empty: none
	Purge bool     // as in Withdrawal

	// Instead is an entry that takes the place of what is forgotten, stored as by AddEntry; nil: none. Where that is
	// gone, the error has the code memoir.CodeNotFound, and nothing is stored.
	Instead    *memoir.Entry
	Statements []memoir.Statement // of it
}

// BeginForgetting puts a tombstone on sessions of the claimed project, and notes
// that its memory is to be rid of them: one durable transaction, after which they
// are no inputs any more, claims on them lose, and nothing in the registry says what
// they were about. What was extracted from them stays stored until FinishForgetting,
// to tell what is to be removed.
//
// With a claim on no project (the zero ProjectClaim) the sessions must be in none;
// then nothing is left to be finished.
func (s *Store) BeginForgetting(ctx context.Context, c ProjectClaim, f Forgetting) error {
	err := s.durably(ctx, func(t tx) error {
		if err := s.dropBackup(); err != nil {
			return err
		}
		if c.ProjectID != "" {
			if err := c.unexpired(t, s.ticks()); err != nil {
				return err
			}
		}
		if f.Instead != nil {
			gone, err := t.texts(`SELECT value FROM json_each(?) WHERE value NOT IN (SELECT session_key FROM searchable)`,
				jsonList(f.Keys))
			if err != nil {
				return err
			}
			if len(gone) > 0 {
				return memoir.Errorf(memoir.CodeNotFound, "it was changed or forgotten meanwhile", "note #%d no longer exists",
					memoir.EntryID(gone[0]))
			}
			if err := s.addEntry(t, f.Instead, f.Statements); err != nil {
				return err
			}
		}
		keys, err := withSubagents(t, f.Keys)
		if err != nil {
			return err
		}
		// Sessions move: the memory of a project may rest on one of another.
		homes, err := t.texts(`SELECT DISTINCT project_id FROM extraction WHERE project_id IS NOT NULL AND project_id <> ?
			AND session_key IN (SELECT value FROM json_each(?))`, c.ProjectID, jsonList(keys))
		if err != nil {
			return err
		}
		if err := s.bury(t, c.ProjectID, keys); err != nil {
			return err
		}
		for _, id := range homes {
			if err := beginWithdrawal(t, id, "", f.Purge); err != nil {
				return err
			}
		}
		if f.Purge {
			if err := beginPurge(t); err != nil {
				return err
			}
		}
		if c.ProjectID == "" {
			return deleteExtracted(t, keys)
		}
		return beginWithdrawal(t, c.ProjectID, f.Text, f.Purge)
	})
	return s.explain(err, "forgetting sessions")
}

// beginWithdrawal makes a project due, and notes that its memory is to be rid of what
// was forgotten.
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
		// It may quote what is to be forgotten. That the project failed stays known.
		`UPDATE job SET last_error = '`+unsaid+`' WHERE kind = 'consolidate' AND key = ? AND last_error <> ''`,
	)
}

// unsaid stands in the place of an error's message that was forgotten.
const unsaid = `(message removed: something was forgotten since)`

// withSubagents adds the sessions that agents started in those: they say what they were told there.
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

// bury marks sessions as forgotten, under the project that they belong to or else
// the one given, and blanks what the registry says of them but
// for what they are recognised by.
func (s *Store) bury(t tx, projectID string, keys []string) error {
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
		`UPDATE session SET project_id = NULL, title = '', cwd = '', branch = '', remote = '', error = ''
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

// deleteExtracted deletes what was extracted from sessions.
func deleteExtracted(t tx, keys []string) error {
	return t.execEach(jsonList(keys),
		`DELETE FROM extraction WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM redaction WHERE scope = 'extract' AND key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM skipped_record WHERE session_key IN (SELECT value FROM json_each(?))`,
		`DELETE FROM searchable WHERE session_key IN (SELECT value FROM json_each(?))`,
	)
}

// Withdrawal is forgetting that was begun, and is to be finished.
type Withdrawal struct {
	ProjectID string
	Texts     []string // lines that hold one of them go, too
	Seq       int64    // as FinishForgetting wants it
	Error     string   // why it could not be finished; empty: nobody tried, or it is under way
	Purge     bool     // earlier generations that rest on what was forgotten go, too
}

// Withdrawals lists what is to be finished, by project.
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

// WithdrawalFailed notes why forgetting in a project could not be finished; the reason
// is redacted.
func (s *Store) WithdrawalFailed(ctx context.Context, projectID, reason string) error {
	err := s.quickly(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE withdrawal SET error = ? WHERE project_id = ? AND error <> ?`, reason, projectID, reason)
		return err
	})
	return s.explain(err, "recording why project %s could not forget", projectID)
}

// WithdrawnExtractions returns what was extracted from the sessions that were
// withdrawn from a project, as long as FinishForgetting did not delete it.
func (s *Store) WithdrawnExtractions(ctx context.Context, projectID string) ([]memoir.Extraction, error) {
	return fetch(ctx, s, func(t tx) ([]memoir.Extraction, error) {
		return collect(t, `SELECT `+extractionColumns+` FROM extraction e JOIN mark m ON m.session_key = e.session_key
			WHERE m.forgotten AND m.project_id = ? ORDER BY e.session_key`, []any{projectID}, scanExtraction)
	}, "reading forgotten texts")
}

// FinishForgetting ends what was begun up to a change sequence, once the project's
// memory is rid of it: what was extracted from the sessions is deleted, and each
// change that a person made by hand becomes what edit makes of it, or is deleted if
// edit says false.
func (s *Store) FinishForgetting(
	ctx context.Context, projectID string, seq int64, edit func(memoir.Note) (memoir.Note, bool),
) error {
	err := s.durably(ctx, func(t tx) error {
		keys, err := forgottenOf(t, projectID)
		if err != nil {
			return err
		}
		if err := deleteExtracted(t, keys); err != nil {
			return err
		}
		if err := editNotes(t, projectID, edit); err != nil {
			return err
		}
		_, err = t.exec(`DELETE FROM withdrawal WHERE project_id = ? AND seq <= ?`, projectID, seq)
		return err
	})
	return s.explain(err, "forgetting in project %s", projectID)
}

func editNotes(t tx, projectID string, edit func(memoir.Note) (memoir.Note, bool)) error {
	notes, err := collect(t, `SELECT id, file, action, section, after, text FROM note WHERE project_id = ? ORDER BY id`,
		[]any{projectID}, func(scan scanner, n *memoir.Note) error {
			return scan(&n.ID, &n.File, (*string)(&n.Action), &n.Section, &n.After, &n.Text)
		})
	if err != nil {
		return err
	}
	for _, n := range notes {
		edited, keep := edit(n)
		switch {
		case !keep:
			_, err = t.exec(`DELETE FROM note WHERE id = ?`, n.ID)
		case edited != n: // another note may say the same by now
			_, err = t.exec(`UPDATE OR REPLACE note SET section = ?, after = ?, text = ? WHERE id = ?`,
				edited.Section, edited.After, edited.Text, n.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remembering tells which projects' memories rest on sessions, or did in an earlier
// generation: project id -> those of the keys. A session that no memory rests on
// stands under the project that it belongs to, "" if that is none.
func (s *Store) Remembering(ctx context.Context, keys []string) (map[string][]string, error) {
	return fetch(ctx, s, func(t tx) (map[string][]string, error) {
		found := map[string][]string{}
		err := t.each(`SELECT k.value, coalesce(e.project_id, s.project_id, p.id, '') FROM json_each(?1) k
			LEFT JOIN extraction e ON e.session_key = k.value LEFT JOIN session s ON s.key = k.value
			LEFT JOIN mark m ON m.session_key = k.value LEFT JOIN project p ON p.id = m.project_id
			UNION SELECT k.value, g.project_id FROM json_each(?1) k, generation g, json_each(g.inputs) i
			WHERE i.key = k.value ORDER BY 1`, []any{jsonList(keys)}, func(scan scanner) error {
			var key, project string
			err := scan(&key, &project)
			found[project] = append(found[project], key)
			return err
		})
		return found, err
	}, "looking for memories of sessions")
}
