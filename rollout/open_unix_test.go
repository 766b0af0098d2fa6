//go:build unix

package rollout

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"memoir"
)

func TestAPipeThatTookAFilesPlaceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Probe(Entry{File: memoir.File{Path: path, Size: 100, ModTime: time.Unix(1, 0)}})
		done <- err
	}()
	select {
	case err := <-done:
		if memoir.CodeOf(err) != memoir.CodeUnreadable {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still waiting for somebody to write")
	}
}
