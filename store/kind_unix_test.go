//go:build unix

package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memoir"
)

func TestWhatStandsInTheDatabasesPlaceIsNamedAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"a directory":  func(path string) error { return os.Mkdir(path, 0o700) },
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		for _, readOnly := range []bool{true, false} {
			path := filepath.Join(newHome(t), "memoir.db")
			must(t, make(path))
			_, err := Open(t.Context(), path, Options{ReadOnly: readOnly})
			wantCode(t, err, memoir.CodeStorage)
			if !strings.Contains(err.Error(), path) || !strings.Contains(memoir.HintOf(err), "move it aside") {
				t.Errorf("%s (read only %v): %v, hint %q", name, readOnly, err, memoir.HintOf(err))
			}
		}
	}
}
