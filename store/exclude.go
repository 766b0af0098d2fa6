package store

import "context"

// Directories returns the directories in which registered sessions began, each once, in order.
func (s *Store) Directories(ctx context.Context) ([]string, error) {
	var dirs []string
	err := s.read(ctx, func(t tx) (err error) {
		dirs, err = t.texts(`SELECT DISTINCT cwd FROM session WHERE cwd <> '' ORDER BY 1`)
		return err
	})
	return dirs, s.explain(err, "listing directories")
}

// SetExcluded keeps the sessions that began in exactly these directories out of
// memory, and lets in again those that an earlier call kept out and this one does
// not. Such a session counts as disabled, whatever SetDisabled says of it. When
// nothing changes, nothing is written.
func (s *Store) SetExcluded(ctx context.Context, dirs []string) error {
	list := jsonList(append([]string{}, dirs...))
	var out, in []string
	err := s.read(ctx, func(t tx) (err error) {
		out, err = t.texts(`SELECT s.key FROM session s LEFT JOIN mark m ON m.session_key = s.key
			WHERE s.cwd IN (SELECT value FROM json_each(?1))
				AND NOT coalesce(m.excluded, 0) ORDER BY s.key`, list)
		if err != nil {
			return err
		}
		in, err = t.texts(`SELECT s.key FROM mark m JOIN session s ON s.key = m.session_key
			WHERE m.excluded AND s.cwd NOT IN (SELECT value FROM json_each(?1))
			ORDER BY s.key`, list)
		return err
	})
	if err != nil || len(out)+len(in) == 0 {
		return s.explain(err, "comparing excluded directories")
	}
	err = s.durably(ctx, func(t tx) error {
		for i, key := range append(out, in...) {
			if err := s.setExcluded(t, key, i < len(out)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "excluding directories")
}

// setExcluded keeps one session out, or lets it in again.
func (s *Store) setExcluded(t tx, key string, excluded bool) error {
	_, err := t.exec(`INSERT INTO mark (session_key, excluded, at) VALUES (?1, ?2, ?3)
		ON CONFLICT (session_key)
			DO UPDATE SET excluded = excluded.excluded, at = excluded.at`, key, excluded, millis(s.now()))
	if err != nil {
		return err
	}
	return s.markChanged(t, key)
}
