package memory

import (
	"os"
	"path/filepath"
	"testing"
)

// withPage makes a project's folder with a memory of one generation.
func withPage(t *testing.T, home, id, page string) Root {
	t.Helper()
	root := At(home, id)
	files := Files{MemoryFile: []byte("# " + id + "\n"), "page.md": []byte(page)}
	if err := root.Stage(t.Context(), 1, files, NewManifest(1, files, nil, nil)); err != nil {
		t.Fatal(err)
	}
	if err := root.Swap(1); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestAFolderThatIsPutAsideIsSweptLater(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	root, neighbour := withPage(t, home, "gone-1", "x"), withPage(t, home, "stays-1", "y")
	for range 2 { // once more is no fault
		if err := root.PutAside(); err != nil {
			t.Fatal(err)
		}
	}
	again := withPage(t, home, "gone-1", "new")
	for range 2 {
		if err := SweepRemoved(home); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(home, "projects"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, r := range []Root{again, neighbour} {
		if _, err := r.Current(); err != nil {
			t.Error(err)
		}
	}
	if err := SweepRemoved(filepath.Join(home, "none")); err != nil {
		t.Error(err)
	}
}
