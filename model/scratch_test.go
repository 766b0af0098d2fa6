//go:build unix

package model

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheNextCallRemovesWhatKilledOnesLeft(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	now := time.Now()
	for _, test := range []struct {
		name string
		mode os.FileMode
		age  time.Duration
	}{
		{"memoir-exec-1", 0o700, 25 * time.Hour},
		{"memoir-exec-2", 0o700, 23 * time.Hour}, // a call may be at it
		{"memoir-exec-3", 0o755, 25 * time.Hour}, // not as calls make them
		{"another-4", 0o700, 25 * time.Hour},
	} {
		path := filepath.Join(temp, test.name)
		locked := filepath.Join(path, "work", "locked")
		if err := errors.Join(os.MkdirAll(locked, 0o700), os.WriteFile(filepath.Join(locked, "file"), nil, 0o600), os.Chmod(locked, 0o500),
			os.Chmod(path, test.mode), os.Chtimes(path, time.Time{}, now.Add(-test.age))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	}
	elsewhere := filepath.Join(t.TempDir(), "kept")
	if err := errors.Join(os.WriteFile(elsewhere, nil, 0o600), os.Symlink(elsewhere, filepath.Join(temp, "memoir-exec-1", "link")),
		os.Symlink(filepath.Dir(elsewhere), filepath.Join(temp, "memoir-exec-5")),
		os.Chtimes(filepath.Join(temp, "memoir-exec-1"), time.Time{}, now.Add(-25*time.Hour))); err != nil {
		t.Fatal(err)
	}
	m, _ := script(t, "echo '{}'", Options{})
	ask(t, m, Request{})
	for name, want := range map[string]bool{"memoir-exec-1": false, "memoir-exec-2": true, "memoir-exec-3": true, "another-4": true, "memoir-exec-5": true} {
		if _, err := os.Lstat(filepath.Join(temp, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Errorf("what a link leads to is gone: %v", err)
	}
}
