package store

import (
	"context"

	"memoir"
)

// Prior returns what is stored of a session and how far it was read for that; nil for
// nothing.
func (s *Store) Prior(ctx context.Context, key string) (e *memoir.Extraction, marks []memoir.Mark, err error) {
	err = s.read(ctx, func(t tx) error {
		if e, err = selectExtraction(t, key); err != nil {
			return err
		}
		marks, err = selectMarks(t, key)
		return err
	})
	return e, marks, s.explain(err, "reading what was extracted from session %s", key)
}

// setMarks replaces the marks of an extraction. Where there is none, none are kept.
func setMarks(t tx, key string, marks []memoir.Mark) error {
	if _, err := t.exec(`DELETE FROM extraction_mark WHERE session_key = ?`, key); err != nil {
		return err
	}
	for _, m := range marks {
		_, err := t.exec(`INSERT INTO extraction_mark (session_key, item, hash) SELECT session_key, ?, ? FROM extraction WHERE session_key = ?`,
			m.Item, m.Hash, key)
		if err != nil {
			return err
		}
	}
	return nil
}

// selectMarks returns the marks of an extraction, in order.
func selectMarks(t tx, key string) ([]memoir.Mark, error) {
	var marks []memoir.Mark
	err := t.each(`SELECT item, hash FROM extraction_mark WHERE session_key = ? ORDER BY item`, []any{key}, func(scan func(...any) error) error {
		var m memoir.Mark
		err := scan(&m.Item, &m.Hash)
		marks = append(marks, m)
		return err
	})
	return marks, err
}
