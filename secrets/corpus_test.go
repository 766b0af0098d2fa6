package secrets

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// corpusTexts returns all different strings in the sessions of the corpus: what
// people and agents wrote, tool calls and their results. It skips the test where
// the corpus is missing.
func corpusTexts(t testing.TB) []string {
	t.Helper()
	root := os.Getenv("MEMOIR_CORPUS")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no corpus of sessions: %v (set MEMOIR_CORPUS)", err)
	}
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(filepath.Ext(path), ".json") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(content))
		for {
			var value any
			if decoder.Decode(&value) != nil {
				return nil
			}
			collectStrings(value, seen)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 0, len(seen))
	for text := range seen {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	return texts
}

func collectStrings(value any, into map[string]bool) {
	switch value := value.(type) {
	case string:
		into[value] = true
	case []any:
		for _, v := range value {
			collectStrings(v, into)
		}
	case map[string]any:
		for _, v := range value {
			collectStrings(v, into)
		}
	}
}

func totalBytes(texts []string) int {
	n := 0
	for _, text := range texts {
		n += len(text)
	}
	return n
}
