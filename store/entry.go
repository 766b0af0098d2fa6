package store

import (
	"context"
	"errors"
	"strings"

	"memoir"
)

// AddEntry stores an entry, whose text the caller has redacted, in one durable transaction, and returns it as it
// is stored. Of statements, if there are any, the project's memory is to be made; it becomes due. Page, unless it
// is nil, is called with the entry before the transaction ends, while no other process adds one; its error undoes
// all. The project must be registered.
func (s *Store) AddEntry(ctx context.Context, e memoir.Entry, statements []memoir.Statement,
	page func(memoir.Entry) error) (memoir.Entry, error) {
	err := s.durably(ctx, func(t tx) error {
		e.CreatedAt = moment(millis(s.now()))
		e.AccessedAt = e.CreatedAt
		err := t.get(`INSERT INTO entry (kind, category, author, accessed_at) VALUES (?, ?, ?, ?) RETURNING id`,
			[]any{string(e.Kind), e.Category, string(e.Author), millis(e.AccessedAt)}, &e.ID)
		if err != nil {
			return err
		}
		_, id := memoir.SplitKey(e.Key())
		title, _, _ := strings.Cut(e.Text, "\n")
		session := memoir.Session{Source: memoir.SourceEntry, ID: id, ProjectID: e.ProjectID, Kind: memoir.KindEntry,
			Title: title, Bytes: int64(len(e.Text)), CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt}
		if err := errors.Join(s.saveSession(t, session, ""), s.settle(t, e.Key())); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE entry SET session_key = ? WHERE id = ?`, e.Key(), e.ID); err != nil {
			return err
		}
		_, err = s.storeExtraction(t, memoir.Extraction{
			SessionKey: e.Key(), ProjectID: e.ProjectID, RawMemory: memoir.FormatStatements(statements), Title: title,
			StartedAt: e.CreatedAt, EndedAt: e.CreatedAt, ContentHash: e.Key(),
		}, false)
		if err != nil {
			return err
		}
		said := Message{Item: 1, Typed: e.Author == memoir.AuthorUser, At: e.CreatedAt, Text: e.Text}
		if err := putMessages(t, e.Key(), []Message{said}); err != nil || page == nil {
			return err
		}
		return page(e)
	})
	return e, s.explain(err, "storing an entry")
}

// EntryFilter selects entries; empty fields select all.
type EntryFilter struct {
	ID       int64
	Projects []string
	Kind     memoir.EntryKind
	Category string
	Author   memoir.Author
	Words    []string // each stands in the text, ignoring the case of ASCII letters
	Max      int      // entries at most
}

// Entries returns the entries that a filter selects and nobody has disabled or forgotten, those that were
// accessed last first.
func (s *Store) Entries(ctx context.Context, f EntryFilter) ([]memoir.Entry, error) {
	return fetch(ctx, s, func(t tx) ([]memoir.Entry, error) { return selectEntries(t, f) }, "reading entries")
}

// Recall is Entries, and notes that these were accessed now.
func (s *Store) Recall(ctx context.Context, f EntryFilter) (found []memoir.Entry, err error) {
	err = s.quickly(ctx, func(t tx) error {
		if found, err = selectEntries(t, f); err != nil {
			return err
		}
		var keys []string
		for _, e := range found {
			keys = append(keys, e.Key())
		}
		_, err = t.exec(`UPDATE entry SET accessed_at = ? WHERE session_key IN (SELECT value FROM json_each(?))`,
			millis(s.now()), jsonList(keys))
		return err
	})
	return found, s.explain(err, "recalling entries")
}

func selectEntries(t tx, f EntryFilter) ([]memoir.Entry, error) {
	where, args := ``, []any{}
	for _, c := range []struct {
		condition string
		set       bool
		arg       any
	}{
		{` AND n.id = ?`, f.ID != 0, f.ID},
		{` AND s.project_id IN (SELECT value FROM json_each(?))`, f.Projects != nil, jsonList(f.Projects)},
		{` AND n.kind = ?`, f.Kind != "", string(f.Kind)},
		{` AND n.category = ?`, f.Category != "", f.Category},
		{` AND n.author = ?`, f.Author != "", string(f.Author)},
		{` AND NOT EXISTS (SELECT 1 FROM json_each(?) w WHERE instr(lower(m.text), lower(w.value)) = 0)`,
			len(f.Words) > 0, jsonList(f.Words)},
	} {
		if c.set {
			where, args = where+c.condition, append(args, c.arg)
		}
	}
	most := f.Max
	if most == 0 {
		most = -1
	}
	return collect(t, `SELECT n.id, s.project_id, n.kind, n.category, n.author, m.text, s.created_at, n.accessed_at
		FROM entry n JOIN session s ON s.key = n.session_key JOIN searchable q ON q.session_key = n.session_key
		JOIN message m ON m.seq = q.seq WHERE s.project_id IS NOT NULL AND s.reason = 'up_to_date'`+where+`
		ORDER BY n.accessed_at DESC, n.id DESC LIMIT ?`, append(args, most), func(scan scanner, e *memoir.Entry) error {
		return scan(&e.ID, &e.ProjectID, (*string)(&e.Kind), &e.Category, (*string)(&e.Author), &e.Text,
			timeColumn{&e.CreatedAt}, timeColumn{&e.AccessedAt})
	})
}
