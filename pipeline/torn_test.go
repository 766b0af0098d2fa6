package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoir"
)

func TestAFileThatIsWrittenAnewWhileItIsReadIsLeftForTheNextRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file string
		change     func(path string) error
		whole      bool
	}{
		{"nobody wrote", "s.jsonl", func(string) error { return nil }, true},
		{"a line was added", "s.jsonl", func(path string) error { return os.WriteFile(path, []byte("one\ntwo\n"), 0o600) }, true},
		{"half a line was added", "s.jsonl", func(path string) error { return os.WriteFile(path, []byte("one\ntw"), 0o600) }, true},
		{"it was emptied", "s.jsonl", func(path string) error { return os.Truncate(path, 0) }, false},
		{"it was replaced", "s.jsonl", func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("one\ntwo\n"), 0o600), os.Rename(path+".new", path))
		}, false},
		{"it was removed", "s.jsonl", os.Remove, false},
		{"a document, and nobody wrote", "s.json", func(string) error { return nil }, true},
		{"a document was written anew", "s.json", func(path string) error { return os.WriteFile(path, []byte("one\ntwo\n"), 0o600) }, false},
		{"a document of the same size", "s.json", func(path string) error {
			return os.Chtimes(path, time.Now().Add(time.Second), time.Now().Add(time.Second))
		}, false},
	} {
		path := filepath.Join(t.TempDir(), test.file)
		if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := lookAt([]memoir.File{{Path: path}, {Path: path + ".never"}})
		if err := test.change(path); err != nil {
			t.Fatal(err)
		}
		err := before.whole()
		if (err == nil) != test.whole || err != nil && !withheld(memoir.Session{Files: []memoir.File{{Path: path, Size: 4}}}, err) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
