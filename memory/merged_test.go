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

func TestAMergedMemoryIsKeptWhole(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	into, from := At(home, "into-1"), withPage(t, home, "from-1", "first")
	for i, want := range []string{"from-1", "from-1.2"} { // begun anew under its name, and merged again
		if i > 0 {
			from = withPage(t, home, "from-1", "second")
		}
		to, err := into.Keep(from)
		if err != nil || filepath.Base(to) != want {
			t.Fatalf("%s, %v", to, err)
		}
		if _, err := os.Lstat(from.Dir()); !os.IsNotExist(err) {
			t.Errorf("it is still there: %v", err)
		}
	}
	if to, err := into.Keep(from); to != "" || err != nil {
		t.Errorf("nothing was moved to %q, %v", to, err)
	}
	merged, err := into.Merged()
	if err != nil || len(merged) != 2 {
		t.Fatalf("%v, %v", merged, err)
	}
	for i, page := range []string{"first", "second"} {
		snap, err := merged[i].Current()
		if err != nil || string(snap.Files["page.md"]) != page || len(snap.Edited) != 0 {
			t.Errorf("%q, %v", snap.Files["page.md"], err)
		}
		if files, err := merged[i].ReadArchive(1); err != nil || string(files["page.md"]) != page {
			t.Errorf("the archive: %q, %v", files["page.md"], err)
		}
	}
	// Neither a publication nor recovery takes it for something of its own.
	if recovered, err := into.Recover(0); err != nil || len(recovered.Removed) != 0 || recovered.Next != 1 {
		t.Errorf("%+v, %v", recovered, err)
	}
	if none, err := At(home, "none-1").Merged(); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
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
