package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"memoir"
	"memoir/config"
	"memoir/secrets"
	"memoir/store"
)

// RulesFingerprint stands for the rules by which secrets are found: the text of those that
// are built in, and of a person's own. What an [extend] of theirs names besides goes
// unseen. No rule is compiled: status asks each time.
func RulesFingerprint(configDir string) (int64, error) {
	h := sha256.New()
	h.Write([]byte(secrets.BuiltIn()))
	if path := config.RulesFile(configDir); path != "" {
		own, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, memoir.Errorf(memoir.CodeConfig, "", "read the rules: %w", err)
		}
		if err == nil {
			h.Write([]byte{0})
			h.Write(own)
		}
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)) >> 1), nil
}

// RulesChanged reports whether the rules are others than those that all that is stored
// was last held against: what was stored before may hold what they find.
func RulesChanged(ctx context.Context, st *store.Store, configDir string) (bool, error) {
	now, err := RulesFingerprint(configDir)
	if err != nil {
		return false, err
	}
	then, known, err := st.Rules(ctx)
	if err != nil || known {
		return known && now != then, err
	}
	empty, err := st.NothingStored(ctx)
	return !empty, err
}

// noteRules keeps which rules nothing was found by.
func noteRules(ctx context.Context, st *store.Store, configDir string) error {
	now, err := RulesFingerprint(configDir)
	if err != nil {
		return err
	}
	return st.SetRules(ctx, now)
}

// NoteRules keeps which rules all that is stored was held against, after a ScanStored of
// the whole home that found nothing.
func NoteRules(ctx context.Context, st *store.Store, opts Options) error {
	return noteRules(ctx, st, opts.ConfigDir)
}
