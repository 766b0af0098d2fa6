// Package testdata holds sessions written for this project and what a run must
// make of them. It knows the sessions' bytes, their secrets' places and the
// expected results; it knows no reader, model or database.
//
// Read expected.go first (what each session is for), then testdata.go (how
// they are written to disk) and secret.go (why none holds a secret). README.md
// tells the stories.
package testdata

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Now is the moment at which the expected reasons hold: pass it as --now.
var Now = time.Date(2026, time.May, 20, 12, 0, 0, 0, time.UTC)

//go:embed all:sessions
var embedded embed.FS

// Sessions returns the stored files, with placeholders where Write puts
// secrets. Paths are relative to the directory that Write fills.
func Sessions() fs.FS {
	sub, err := fs.Sub(embedded, "sessions")
	if err != nil {
		panic(err) // the directory is compiled in
	}
	return sub
}

// Write materialises every session below dir, which is made if it is missing,
// and returns the secrets that it planted: none of them may turn up in what a
// run stores, prints or publishes. The same bytes and times are written each
// time. A file's modification time is that of its session's last record, so that
// a session without times of its own has its age too.
func Write(dir string) (planted []string, err error) {
	secrets := newSecrets()
	modified := make(map[string]time.Time)
	for _, s := range Expected {
		for _, name := range s.Files {
			modified[name] = s.Updated
		}
	}
	files := Sessions()
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, secrets.fill(data), 0o600); err != nil {
			return err
		}
		at, ok := modified[name]
		if !ok {
			return fmt.Errorf("no expectation names %s", name)
		}
		return os.Chtimes(target, at, at)
	})
	if err != nil {
		return nil, fmt.Errorf("writing fixture sessions to %s: %w", dir, err)
	}
	return secrets.planted(), nil
}
