package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"memoir"
)

// textSum is the fingerprint of an extraction's texts.
func textSum(e memoir.Extraction) string {
	h := sha256.New()
	var size [8]byte
	for _, text := range []string{e.RawMemory, e.RolloutSummary, e.RolloutSlug, e.Title, e.CWD, e.Branch} {
		binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// sumUp writes the fingerprint of one extraction as it stands; of all that have none for "".
func sumUp(t tx, key string) error {
	where, args := `e.text_sum = ''`, []any(nil)
	if key != "" {
		where, args = `e.session_key = ?`, []any{key}
	}
	sums := map[string]string{}
	err := t.each(`SELECT `+extractionColumns+` FROM extraction e WHERE `+where, args, func(scan func(...any) error) error {
		e, err := scanExtraction(scan)
		sums[e.SessionKey] = textSum(e)
		return err
	})
	if err != nil {
		return err
	}
	for key, sum := range sums {
		if _, err := t.exec(`UPDATE extraction SET text_sum = ? WHERE session_key = ?`, sum, key); err != nil {
			return err
		}
	}
	return nil
}

// GarbledExtractions lists the extractions whose texts are others than those that were
// stored: a disk, or another program, changed them. It reads the texts of all.
func (s *Store) GarbledExtractions(ctx context.Context) ([]memoir.Extraction, error) {
	var garbled []memoir.Extraction
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT `+extractionColumns+`, e.text_sum FROM extraction e WHERE e.text_sum <> '' ORDER BY e.session_key`, nil,
			func(scan func(...any) error) error {
				var sum string // of the texts that were stored
				e, err := scanExtraction(func(into ...any) error { return scan(append(into, &sum)...) })
				if err == nil && textSum(e) != sum {
					garbled = append(garbled, e)
				}
				return err
			})
	})
	return garbled, s.explain(err, "looking for extractions that were changed")
}

// Fate is what becomes of an extraction that was garbled.
type Fate int

// The fates.
const (
	FateMended Fate = iota // it has the texts of the copy
	FateAgain              // its session is read again
	FateStays              // its session's files are gone: it stays as it is
)

// MendExtraction gives a garbled extraction the texts of a copy; without one it has the
// session read again, from its beginning. Where there are no files to read, what is left
// of the texts stays.
func (s *Store) MendExtraction(ctx context.Context, key string, from *memoir.Extraction) (fate Fate, err error) {
	err = s.durably(ctx, func(t tx) error {
		if from != nil {
			fate = FateMended
			_, err := t.exec(`UPDATE extraction SET raw_memory = ?, rollout_summary = ?, rollout_slug = ?, title = ?, cwd = ?, branch = ?, text_sum = ? WHERE session_key = ?`,
				from.RawMemory, from.RolloutSummary, from.RolloutSlug, from.Title, from.CWD, from.Branch, textSum(*from), key)
			if err != nil {
				return err
			}
			var project string
			if err := t.get(`SELECT coalesce(project_id, '') FROM extraction WHERE session_key = ?`, []any{key}, &project); err != nil || project == "" {
				return err
			}
			_, err = bump(t, project)
			return err
		}
		var files bool // or all are yet to be found again, as after a repair
		if err := t.get(`SELECT EXISTS (SELECT 1 FROM file WHERE session_key = ?) OR NOT EXISTS (SELECT 1 FROM file)`, []any{key}, &files); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE extraction SET text_sum = '' WHERE session_key = ?`, key); err != nil {
			return err
		}
		if fate = FateStays; !files {
			return nil
		}
		fate = FateAgain
		for _, statement := range []string{
			`UPDATE job SET status = 'pending', done_version = '', done_hash = '' WHERE kind = 'extract' AND key = ? AND status <> 'running'`,
			`DELETE FROM extraction_mark WHERE session_key = ?`,
		} {
			if _, err := t.exec(statement, key); err != nil {
				return err
			}
		}
		return s.settle(t, key)
	})
	return fate, s.explain(err, "mending the extraction of session %s", key)
}
