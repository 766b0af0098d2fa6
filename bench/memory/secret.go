package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"memoir/bench/memory/scenario"
)

// plantedSecrets are what must stand in no file of a project's memory.
func plantedSecrets(p scenario.Project) []string {
	var out []string
	for _, s := range p.Sessions {
		for _, secret := range s.Planted {
			if !slices.Contains(out, secret) {
				out = append(out, secret)
			}
		}
	}
	return out
}

// countLeaked counts the secrets that stand in some file below a directory, databases,
// their logs and archives included, as they are or quoted as JSON.
func countLeaked(dir string, planted []string) (int, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".zst") {
			if data, err = unpack(data); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		for _, secret := range planted {
			quoted, err := json.Marshal(secret)
			if err != nil {
				return err
			}
			if bytes.Contains(data, []byte(secret)) || bytes.Contains(data, quoted[1:len(quoted)-1]) {
				found[secret] = true
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("look for secrets: %w", err)
	}
	return len(found), nil
}

func unpack(data []byte) ([]byte, error) {
	reader, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return reader.DecodeAll(data, nil)
}
