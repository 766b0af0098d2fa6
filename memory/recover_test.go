//go:build unix

package memory_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
)

func TestRecoveryRemovesWhatNobodyPublished(t *testing.T) {
	t.Parallel()
	home, r := twoGenerations(t)
	publish(t, r, 3, generation(3))
	other := memory.At(home, project)
	must(t, other.Stage(t.Context(), 4, generation(4), manifest(4)))
	if found, err := r.Disturbed(3); err != nil || !found {
		t.Errorf("nothing to remove: %v", err)
	}
	recovered, err := r.Recover(3)
	must(t, err)
	if len(recovered.Removed) != 4 {
		t.Errorf("removed %q", recovered.Removed)
	}
	for _, dir := range []string{r.Live(1), other.Staged(4)} {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	if _, err := os.Stat(r.Live(2)); err != nil {
		t.Errorf("the previous live directory is gone: %v", err)
	}
	if generations, err := r.Generations(); err != nil || len(generations) != 3 {
		t.Errorf("%d generations are kept, %v", len(generations), err)
	}
	if recovered.Linked != 3 || recovered.Ahead != nil {
		t.Errorf("got %+v", recovered)
	}
	if !current(t, r).Files.Equal(generation(3)) {
		t.Error("the live memory changed")
	}
}

// A process died between the renames of Swap.
func TestAGenerationThatWasNeverLinkedIsRemovedWithItsArchive(t *testing.T) {
	t.Parallel()
	for recorded := range 3 {
		r := memory.At(quickDir(t), project)
		for n := 1; n <= recorded+1; n++ {
			publish(t, r, n, generation(n))
		}
		must(t, os.Remove(r.Link()))
		if recorded > 0 {
			must(t, os.Symlink(filepath.Join("live", strconv.Itoa(recorded)), r.Link()))
		}
		got, err := r.Recover(recorded)
		if err != nil || got.Linked != recorded {
			t.Errorf("after %d: %+v, %v", recorded, got, err)
		}
		if generations, err := r.Generations(); err != nil || len(generations) != recorded {
			t.Errorf("after %d: %d generations are kept, %v", recorded, len(generations), err)
		}
	}
}

// A generation that is missing in the database is not debris.
func TestALinkAheadOfTheDatabaseIsReported(t *testing.T) {
	t.Parallel()
	for recorded := range 2 {
		_, r := twoGenerations(t)
		recovered, err := r.Recover(recorded)
		must(t, err)
		if recovered.Linked != 2 || recovered.Ahead == nil || len(recovered.Removed) > 0 {
			t.Fatalf("got %+v", recovered)
		}
		if diff := cmp.Diff(manifest(2), *recovered.Ahead); diff != "" {
			t.Error(diff)
		}
		for n := 1; n <= 2; n++ {
			if files, err := r.ReadArchive(n); err != nil || !files.Equal(generation(n)) {
				t.Errorf("generation %d is lost: %v", n, err)
			}
		}
	}
}

func TestALostLinkOrDirectoryIsMadeAgain(t *testing.T) {
	t.Parallel()
	_, sample := twoGenerations(t)
	at := func(r memory.Root, path string) string {
		rel, err := filepath.Rel(sample.Dir(), path)
		must(t, err)
		return filepath.Join(r.Dir(), rel)
	}
	link, live2, lives := sample.Link(), sample.Live(2), filepath.Join(sample.Dir(), "live")
	archives := filepath.Join(sample.Dir(), "generations")
	tests := []struct {
		name     string
		lost     []string
		recorded int
		linked   int
	}{
		{"the link", []string{link}, 2, 2},
		{"the link and the database", []string{link}, 0, 2},
		{"the live directory", []string{live2}, 2, 2},
		{"all live directories", []string{lives}, 2, 2},
		{"link and live directories", []string{link, lives}, 2, 2},
		{"the live directory and its archive", []string{live2, sample.Archive(2)}, 2, 1},
		{"the link and all archives", []string{link, archives}, 2, 2},
		{"everything live, and the archives", []string{lives, archives}, 2, 0},
		{"the whole of it", []string{sample.Dir()}, 2, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, r := twoGenerations(t)
			for _, path := range test.lost {
				must(t, os.RemoveAll(at(r, path)))
			}
			recovered, err := r.Recover(test.recorded)
			must(t, err)
			if recovered.Linked != test.linked {
				t.Errorf("got %+v, want generation %d", recovered, test.linked)
			}
			snap := current(t, r)
			if snap.Generation != test.linked || len(snap.Edited) > 0 {
				t.Errorf("generation %d is live, edits %v", snap.Generation, snap.Edited)
			}
			if test.linked > 0 && !snap.Files.Equal(generation(test.linked)) {
				t.Error("its files are not what they were")
			}
			if again, err := r.Recover(max(test.linked, test.recorded)); err != nil || len(again.Removed) > 0 {
				t.Errorf("a second recovery does %+v, %v", again, err)
			}
		})
	}
}

func TestADirectoryInTheLinksPlaceStopsRecovery(t *testing.T) {
	t.Parallel()
	_, r := twoGenerations(t)
	must(t, os.Remove(r.Link()))
	must(t, os.Mkdir(r.Link(), 0o700))
	write(t, r, "mine.md", "mine")
	before := names(t, r)
	if _, err := r.Recover(2); memoir.CodeOf(err) != memoir.CodeInvalid {
		t.Errorf("got %v", err)
	}
	if err := r.Swap(3); err == nil {
		t.Error("it was published over")
	}
	if diff := cmp.Diff(before, names(t, r)); diff != "" {
		t.Error(diff)
	}
}

func TestArchivesArePurged(t *testing.T) {
	t.Parallel()
	_, r := twoGenerations(t)
	if err := r.RemoveArchive(2); memoir.CodeOf(err) != memoir.CodeUsage {
		t.Errorf("the live generation's archive: %v", err)
	}
	must(t, r.RemoveArchive(1))
	if _, err := r.ReadArchive(1); memoir.CodeOf(err) != memoir.CodeNotFound {
		t.Errorf("a purged generation: %v", err)
	}
	if found, err := r.Disturbed(2); err != nil || found {
		t.Errorf("something is left to remove: %v", err)
	}
}
