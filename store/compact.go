package store

import (
	"context"
	"path/filepath"

	"memoir"
)

// SetManifestHash records that the archive of a generation was rewritten.
func (s *Store) SetManifestHash(ctx context.Context, projectID string, n int64, hash string) error {
	err := s.durably(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE generation SET manifest_hash = ? WHERE project_id = ? AND n = ? AND manifest_hash <> ?`, hash, projectID, n, hash)
		return err
	})
	return s.explain(err, "recording generation %d of project %s", n, projectID)
}

// Compact takes what was overwritten and deleted out of free pages and out of the
// write-ahead log. It needs the database for itself for a moment: CodeBusy says that
// another process reads or writes.
func (s *Store) Compact(ctx context.Context) error {
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := s.alone(ctx, `VACUUM`); err != nil {
		return s.explain(err, "compacting database")
	}
	return s.truncateLog(ctx)
}

// IsCopy reports whether a file beside the database is a copy that was made of it
// before a migration.
func (s *Store) IsCopy(path string) bool {
	for _, pattern := range copyPatterns {
		if ok, _ := filepath.Match(globQuoted(s.path)+pattern, path); ok {
			return true
		}
	}
	return false
}

// Working returns an error of memoir.CodeBusy while another process holds work:
// it may have read texts by earlier rules. What a process that is gone held is free.
func (s *Store) Working(ctx context.Context) error {
	err := s.quickly(ctx, func(t tx) error {
		for _, kind := range []string{kindExtract, kindConsolidate} {
			running, err := s.takeOver(t, kind)
			if err != nil {
				return err
			}
			if running > 0 {
				return memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait", "another process is at work: %d jobs of kind %s are running", running, kind)
			}
		}
		return nil
	})
	return s.explain(err, "looking for work under way")
}

// rulesCounter keeps which rules all that is stored was last held against.
const rulesCounter = "rules"

// Rules returns what SetRules kept; false: nothing yet.
func (s *Store) Rules(ctx context.Context) (fingerprint int64, known bool, err error) {
	err = s.read(ctx, func(t tx) error {
		return t.get(`SELECT coalesce(max(n), 0), count(*) > 0 FROM counter WHERE name = ?`, []any{rulesCounter}, &fingerprint, &known)
	})
	return fingerprint, known, s.explain(err, "reading which rules were used")
}

// SetRules keeps the fingerprint of the rules that found nothing in all that is stored.
func (s *Store) SetRules(ctx context.Context, fingerprint int64) error {
	err := s.quickly(ctx, func(t tx) error {
		_, err := t.exec(`INSERT INTO counter (name, n) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET n = excluded.n`, rulesCounter, fingerprint)
		return err
	})
	return s.explain(err, "recording which rules were used")
}

// NothingStored reports whether the database holds no text yet that was made of sessions.
func (s *Store) NothingStored(ctx context.Context) (empty bool, err error) {
	err = s.read(ctx, func(t tx) error {
		return t.get(`SELECT NOT EXISTS (SELECT 1 FROM session) AND NOT EXISTS (SELECT 1 FROM generation)`, nil, &empty)
	})
	return empty, s.explain(err, "looking whether anything is stored")
}
