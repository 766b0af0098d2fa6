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

// names are the stored files, in order.
func names() (out []string) {
	err := fs.WalkDir(Sessions(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		panic(err) // the directory is compiled in
	}
	return out
}

// Write materialises every session below dir, which is made if it is missing,
// and returns the secrets that it planted: none of them may turn up in what a
// run stores, prints or publishes. The same bytes and times are written each
// time. A file's modification time is that of its session's last record, so that
// a session without times of its own has its age too.
func Write(dir string) (planted []string, err error) {
	for _, s := range Expected() {
		for _, name := range s.Files {
			data, err := fs.ReadFile(Sessions(), name)
			if err != nil {
				return nil, err
			}
			text, parts := Fill(string(data))
			planted = append(planted, parts...)
			target := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
				return nil, err
			}
			if err := os.WriteFile(target, []byte(text), 0o600); err != nil {
				return nil, err
			}
			if err := os.Chtimes(target, s.Updated, s.Updated); err != nil {
				return nil, err
			}
		}
	}
	return planted, nil
}
