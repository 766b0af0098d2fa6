package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
)

// Hashes are keyed hashes of texts that were forgotten: they tell whether a text is
// one of them, and not what it says. The zero value is of none.
type Hashes struct {
	key []byte
	all map[string]bool
}

// hashSize is how many bytes of a hash are kept: enough that none is met by chance.
const hashSize = 16

// keySize is how many bytes the key of the hashes has.
const keySize = 32

func hashed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)[:hashSize]
}

// Has reports whether a text is one of those that were forgotten.
func (h Hashes) Has(text string) bool {
	return len(h.all) > 0 && h.all[string(hashed(h.key, text))]
}

// Len is how many there are.
func (h Hashes) Len() int { return len(h.all) }

func forgottenKey(t tx) (key []byte, err error) {
	err = t.get(`SELECT key FROM forgotten_key`, nil, &key)
	return key, err
}

func (s *Store) hashes(ctx context.Context, query string, args ...any) (Hashes, error) {
	h := Hashes{all: map[string]bool{}}
	err := s.read(ctx, func(t tx) (err error) {
		if h.key, err = forgottenKey(t); err != nil {
			return err
		}
		return t.each(query, args, func(scan func(...any) error) error {
			var hash []byte
			err := scan(&hash)
			h.all[string(hash)] = true
			return err
		})
	})
	return h, s.explain(err, "reading what was forgotten")
}

// ForgottenBeginnings tell how sessions that were forgotten began: see
// Forgetting.Beginnings.
func (s *Store) ForgottenBeginnings(ctx context.Context) (Hashes, error) {
	return s.hashes(ctx, `SELECT hash FROM forgotten_beginning`)
}

// ForgottenLines are the lines of a project's earlier generations, without space
// around them, that tell of what was forgotten and cite none of it.
func (s *Store) ForgottenLines(ctx context.Context, projectID string) (Hashes, error) {
	return s.hashes(ctx, `SELECT hash FROM forgotten_line WHERE project_id = ?`, projectID)
}

// keepBeginnings keeps how sessions begin.
func keepBeginnings(t tx, beginnings map[string][]string) error {
	if len(beginnings) == 0 {
		return nil
	}
	key, err := forgottenKey(t)
	if err != nil {
		return err
	}
	for session, sums := range beginnings {
		for _, sum := range sums {
			if _, err := t.exec(`INSERT INTO forgotten_beginning (hash, session_key) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`, hashed(key, sum), session); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepLines adds to the forgotten lines of a project. Nil takes all of them off: no
// generation has them any more.
func keepLines(t tx, projectID string, lines []string) error {
	if lines == nil {
		_, err := t.exec(`DELETE FROM forgotten_line WHERE project_id = ?`, projectID)
		return err
	}
	key, err := forgottenKey(t)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := t.exec(`INSERT INTO forgotten_line (project_id, hash) VALUES (?, ?) ON CONFLICT DO NOTHING`, projectID, hashed(key, line)); err != nil {
			return err
		}
	}
	return nil
}
