package pipeline

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoir"
	"memoir/rollout"
)

func TestAFileIsLookedAtAgainOnlyIfItWasTouchedSinceTheScan(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "one.jsonl")
	write := func(id string) memoir.File {
		text := `{"type":"session","id":"` + id + `","timestamp":"2026-05-01T10:00:00Z","cwd":"/srv/app","provider":"p","modelId":"m"}` + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return memoir.File{Path: path, Size: info.Size(), ModTime: info.ModTime()}
	}
	s := memoir.Session{ID: "one", Source: memoir.SourcePi, Files: []memoir.File{write("one")}}
	seen := map[string]rollout.Head{path: {Source: memoir.SourcePi, ID: "one", Title: "as the scan saw it"}}

	parts, err := partsOf(t.Context(), s, seen)
	if err != nil || parts[0].Head.Title != "as the scan saw it" {
		t.Errorf("untouched: %+v, %v", parts, err)
	}
	touched := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, touched, touched); err != nil {
		t.Fatal(err)
	}
	if parts, err = partsOf(t.Context(), s, seen); err != nil || parts[0].Head.Title == "as the scan saw it" {
		t.Errorf("touched: %+v, %v", parts, err)
	}
	write("another")
	if _, err = partsOf(t.Context(), s, seen); memoir.CodeOf(err) != memoir.CodeUnreadable {
		t.Errorf("replaced by another session: %v", err)
	}
}
