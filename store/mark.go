package store

import "memoir"

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
