package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"memoir"
)

// AddEntry stores an entry in one durable transaction and returns it as stored. The caller has redacted the text and
// registered the project. A zero CreatedAt means now. Statements, if any, become an input of the project's memory, and
// the project becomes due. The entry is unfiled until FileEntries files it. An entry with an ID takes the place of that
// one, which differs in its author and what it replaces alone.
func (s *Store) AddEntry(ctx context.Context, e memoir.Entry, statements []memoir.Statement) (memoir.Entry, error) {
	err := s.durably(ctx, func(t tx) { s.addEntry(t, &e, statements) })
	return e, s.explain(err, "storing an entry")
}

func (s *Store) addEntry(t tx, e *memoir.Entry, statements []memoir.Statement) {
	if e.CreatedAt.IsZero() {
		e.CreatedAt = s.now()
	}
	e.CreatedAt = unixMillis(millis(e.CreatedAt))
	e.AccessedAt = e.CreatedAt
	t.get(`INSERT INTO entry (id, kind, category, author, accessed_at) VALUES (nullif(?, 0), ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET author = excluded.author RETURNING id`,
		[]any{e.ID, string(e.Kind), e.Category, string(e.Author), millis(e.AccessedAt)}, &e.ID)
	_, id := memoir.SplitKey(e.Key())
	title, _, _ := strings.Cut(e.Text, "\n")
	session := memoir.Session{Source: memoir.SourceEntry, ID: id, ProjectID: e.ProjectID, Kind: memoir.KindEntry,
		ParentID: e.From, Title: title, Bytes: int64(len(e.Text)), CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt}
	s.saveSession(t, session, "", "")
	s.settle(t, e.Key())
	t.exec(`UPDATE entry SET session_key = ? WHERE id = ?`, e.Key(), e.ID)
	s.storeExtraction(t, memoir.Extraction{
		SessionKey: e.Key(), ProjectID: e.ProjectID, Statements: statements, Title: title,
		StartedAt: e.CreatedAt, EndedAt: e.CreatedAt, ContentHash: e.Key(),
	}, false)
	message := Message{Item: 1, Typed: e.Author == memoir.AuthorUser, At: e.CreatedAt, Text: e.Text}
	resendReplaced(t, e.Key())
	putMessages(t, e.Key(), "", []Message{message}, nil)
}

// adoptEntry restores a note, or a line of a journal, from a memory's files. The kind of its statement is all that they
// say of its category.
func adoptEntry(t tx, e memoir.Extraction) {
	kind, category, author := memoir.EntryNote, "fact", memoir.AuthorUser
	for _, s := range e.Statements {
		switch s.Kind {
		case memoir.StatementPreference:
			category = "preference"
		case memoir.StatementClaim:
			author = memoir.AuthorAgent
		}
	}
	if memoir.IsJournal(e.SessionKey) {
		kind, category = memoir.EntryJournal, ""
	}
	t.exec(`INSERT INTO entry (id, session_key, kind, category, author, accessed_at) VALUES (?, ?, ?, ?, ?, ?)`,
		memoir.EntryID(e.SessionKey), e.SessionKey, string(kind), category, string(author), millis(e.EndedAt))
	message := Message{Item: 1, Typed: author == memoir.AuthorUser, At: e.EndedAt, Text: e.Title}
	putMessages(t, e.SessionKey, "", []Message{message}, nil)
}

// JournalInputs returns the raw memory of each line of a project's journals that is an input of consolidations, by key.
// last is when the newest of them was stored, zero if there are none.
func (s *Store) JournalInputs(
	ctx context.Context, projectID string,
) (raw map[string]string, last time.Time, err error) {
	raw = map[string]string{}
	err = s.read(ctx, func(t tx) {
		for scan := range t.rows(`SELECT session_key, statements, stored_at FROM extraction
			WHERE project_id = ? AND session_key LIKE 'memoir:journal-%' ORDER BY stored_at`, projectID) {
			var e memoir.Extraction
			scan(&e.SessionKey, statementColumn{&e.Statements}, timeColumn{&last})
			raw[e.SessionKey] = e.RawMemory()
		}
	})
	return raw, last, s.explain(err, "reading consolidated journals")
}

// PutInputs stores the extractions of entries in one durable transaction; an empty one removes the entry's earlier one.
// Projects whose inputs change become due.
func (s *Store) PutInputs(ctx context.Context, inputs []memoir.Extraction) error {
	return s.explain(s.durably(ctx, func(t tx) {
		for _, e := range inputs {
			s.storeExtraction(t, e, true)
		}
	}), "storing statements of journals")
}

// FileEntries calls file for each unfiled entry, or only for the entry id if that is not 0, the last accessed one last.
// It does so Alone. After a crash file is called again for the same entries. If it fails, the entry stays unfiled.
func (s *Store) FileEntries(ctx context.Context, id int64, file func(memoir.Entry) error) error {
	waiting, err := s.Entries(ctx, EntryFilter{ID: id, Unfiled: true, Max: 1})
	if err != nil || len(waiting) == 0 {
		return err
	}
	return s.Alone(ctx, func() error {
		entries, err := s.Entries(ctx, EntryFilter{ID: id, Unfiled: true})
		failed, filed := []error{err}, []string{}
		for _, e := range slices.Backward(entries) {
			if err := file(e); err != nil {
				failed = append(failed, err)
			} else {
				filed = append(filed, e.Key())
			}
		}
		if len(filed) > 0 {
			failed = append(failed, s.durably(ctx, func(t tx) {
				t.exec(`UPDATE entry SET filed = 1 WHERE session_key IN (SELECT value FROM json_each(?))`,
					jsonList(filed))
			}))
		}
		return s.explain(errors.Join(failed...), "filing entries")
	})
}

// PutFallback stores the history's text for a claimed session whose extraction by a model failed. FileHistory files it.
// The text is redacted; at is the time of its last message.
func (s *Store) PutFallback(ctx context.Context, c Claim, at time.Time, text string) error {
	return s.explain(s.owning(ctx, quick, c.job(), func(t tx) {
		t.exec(`INSERT OR REPLACE INTO fallback (session_key, at, text) VALUES (?, ?, ?)`, c.Session.Key(),
			millis(at), text)
	}), "keeping the last messages of session %s", c.Session.Key())
}

// FileHistory calls file Alone for each project with the extractions that its history lacks, the oldest session first.
// After a crash file gets the same extractions again. Texts of PutFallback come first, as extractions with a
// HistoryEntry only. Disabled and forgotten sessions are left out. An error of file ends the work; the next call files
// the rest.
func (s *Store) FileHistory(ctx context.Context, file func(projectID string, new []memoir.Extraction) error) error {
	projects, err := fetch(ctx, s, func(t tx) []string {
		return t.texts(`SELECT id FROM project WHERE change_seq > history_seq
			OR id IN (SELECT s.project_id FROM fallback e JOIN session s ON s.key = e.session_key WHERE ` + isInput + `)
			ORDER BY id`)
	}, "looking for sessions missing from the history")
	for _, id := range projects {
		if err == nil {
			err = s.Alone(ctx, func() error { return s.fileHistory(ctx, id, file) })
		}
	}
	return s.explain(err, "filing the history")
}

// fileHistory is FileHistory for one project. What is stored while file works is left for the next call.
func (s *Store) fileHistory(ctx context.Context, id string, file func(string, []memoir.Extraction) error) error {
	var seq int64 // of the project when new was read
	var new []memoir.Extraction
	err := s.read(ctx, func(t tx) {
		t.get(`SELECT coalesce(max(change_seq), 0) FROM project WHERE id = ?`, []any{id}, &seq)
		new = collect(t, func(scan scanner, e *memoir.Extraction) {
			scan(&e.SessionKey, timeColumn{&e.EndedAt}, &e.HistoryEntry)
		}, `SELECT session_key, at, text FROM fallback e
			WHERE session_key IN (SELECT key FROM session WHERE project_id = ?) AND `+isInput+` ORDER BY at, session_key`, id)
		new = append(new, collect(t, scanExtraction, `SELECT `+extractionColumns+`
			FROM extraction e JOIN project p ON p.id = e.project_id
			WHERE p.id = ? AND e.seq > p.history_seq AND e.session_key NOT LIKE 'memoir:%' AND NOT `+isReceived+`
			AND `+isInput+` ORDER BY e.ended_at, e.session_key`, id)...)
	})
	if err == nil && len(new) > 0 {
		err = file(id, new)
	}
	if err != nil {
		return err
	}
	return s.durably(ctx, func(t tx) {
		for _, e := range new {
			t.exec(`DELETE FROM fallback WHERE session_key = ? AND text = ?`, e.SessionKey, e.HistoryEntry)
		}
		// A project that was cleared and registered meanwhile begins anew.
		t.exec(`UPDATE project SET history_seq = ?1 WHERE id = ?2 AND change_seq >= ?1`, seq, id)
	})
}

// EntryFilter selects entries; empty fields select all.
type EntryFilter struct {
	ID       int64
	Projects []string
	Kind     memoir.EntryKind
	Category string
	Author   memoir.Author
	Words    []string // the text contains each, ignoring the case of ASCII letters
	Max      int      // entries at most
	Unfiled  bool     // only unfiled ones
	Disabled bool     // also disabled ones
}

// The statement of a note x says which note it replaces; statements of sessions replace statements.
const (
	replaces = `instr(x.statements, '"replaces":"#') > 0`
	replaced = `CAST(substr(json_extract(x.statements, '$[0].replaces'), 2) AS INTEGER)`
)

// replacements joins each note m that stands in the place of a note o.
const replacements = ` FROM extraction x JOIN entry m ON m.session_key = x.session_key
	JOIN session ms ON ms.key = x.session_key JOIN entry o ON o.id = ` + replaced + `
	WHERE x.session_key LIKE 'memoir:note-%' AND ` + replaces + ` AND ms.reason = 'up_to_date'
	AND (m.author = 'user' OR o.author <> 'user')`

// ReplacedNotes returns the text of the note that stands in the place of each replaced one, by key.
func (s *Store) ReplacedNotes(ctx context.Context) (map[string]string, error) {
	return fetchMap[string](ctx, s, "reading replaced notes", `SELECT o.session_key, (SELECT g.text FROM searchable q
		JOIN message g ON g.seq = q.seq WHERE q.session_key = m.session_key)`+replacements+`
		AND o.session_key IS NOT NULL ORDER BY m.id`)
}

// Entries returns the entries that a filter selects, without forgotten ones, the last accessed first. It leaves out
// replaced notes that are not selected by ID or Unfiled.
func (s *Store) Entries(ctx context.Context, f EntryFilter) ([]memoir.Entry, error) {
	return fetch(ctx, s, func(t tx) []memoir.Entry { return selectEntries(t, f) }, "reading entries")
}

// LastSearchable returns the number of the newest searchable session, 0 if there is none.
func (s *Store) LastSearchable(ctx context.Context) (int64, error) {
	return fetch(ctx, s, func(t tx) (seq int64) {
		t.get(`SELECT coalesce(max(seq), 0) FROM searchable`, nil, &seq)
		return seq
	}, "looking for the newest session")
}

// Recall is Entries, and sets the access time of the returned entries to now, if the database can be written.
func (s *Store) Recall(ctx context.Context, f EntryFilter) (found []memoir.Entry, err error) {
	err = s.quickly(ctx, func(t tx) {
		found = selectEntries(t, f)
		t.exec(`UPDATE entry SET accessed_at = ? WHERE session_key IN (SELECT value FROM json_each(?))`,
			millis(s.now()), jsonList(memoir.Map(found, memoir.Entry.Key)))
	})
	err = s.explain(err, "recalling entries")
	if s.writer == nil || memoir.CodeOf(err) == memoir.CodeStorage {
		return s.Entries(ctx, f)
	}
	return found, err
}

func selectEntries(t tx, f EntryFilter) []memoir.Entry {
	where, args := and(
		condition{`n.id = ?`, f.ID != 0, f.ID},
		condition{`s.project_id IN (SELECT value FROM json_each(?))`, f.Projects != nil, jsonList(f.Projects)},
		condition{`n.kind = ?`, f.Kind != "", string(f.Kind)},
		condition{`n.category = ?`, f.Category != "", f.Category},
		condition{`n.author = ?`, f.Author != "", string(f.Author)},
		condition{`NOT EXISTS (SELECT 1 FROM json_each(?) w WHERE instr(lower(m.text), lower(w.value)) = 0)`,
			len(f.Words) > 0, jsonList(f.Words)},
		condition{`NOT n.filed AND ?`, f.Unfiled, true},
		condition{`s.reason = ?`, !f.Disabled, string(memoir.ReasonUpToDate)},
		condition{`n.id NOT IN (SELECT o.id` + replacements + `) AND ?`, f.ID == 0 && !f.Unfiled, true},
	)
	return collect(t, func(scan scanner, e *memoir.Entry) {
		scan(&e.ID, &e.ProjectID, (*string)(&e.Kind), &e.Category, (*string)(&e.Author), &e.Text,
			timeColumn{&e.CreatedAt}, timeColumn{&e.AccessedAt}, &e.Replaces)
	}, `SELECT n.id, s.project_id, n.kind, n.category, n.author, m.text, s.created_at, n.accessed_at,
		coalesce((SELECT `+replaced+` FROM extraction x WHERE x.session_key = n.session_key AND `+replaces+`), 0)
		FROM entry n JOIN session s ON s.key = n.session_key JOIN searchable q ON q.session_key = n.session_key
		JOIN message m ON m.seq = q.seq WHERE s.project_id IS NOT NULL`+where+`
		ORDER BY n.accessed_at DESC, n.id DESC LIMIT ?`, append(args, cmp.Or(f.Max, -1))...)
}
