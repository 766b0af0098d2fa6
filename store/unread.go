package store

import "context"

// LeaveUnread gives a claim back whose file the system does not let be read; no attempt
// is counted. The session is unreadable for that reason until a scan can read it: the
// file at path, or each of the session's where it has none there, gets a time of change
// that no file has, so that the next scan looks at it. The error has the code
// memoir.CodeLeaseLost if the claim is no longer ours.
func (s *Store) LeaveUnread(ctx context.Context, c Claim, path, reason string) error {
	key := c.Session.Key()
	err := s.quickly(ctx, func(t tx) error {
		if err := c.holds(t); err != nil {
			return err
		}
		if err := giveBack(t, kindExtract, key, c.Token); err != nil {
			return err
		}
		const mark = `UPDATE file SET mtime_ns = 0, error = ?1 WHERE session_key = ?2`
		n, err := t.exec(mark+` AND path = ?3`, reason, key, path)
		if err == nil && n == 0 {
			_, err = t.exec(mark, reason, key)
		}
		if err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE session SET error = ? WHERE key = ?`, reason, key); err != nil {
			return err
		}
		return s.settle(t, key)
	})
	return s.explain(err, "leaving session %s unread", key)
}
