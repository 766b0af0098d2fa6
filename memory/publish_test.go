package memory_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
)

func TestAPublishedGenerationIsReadBack(t *testing.T) {
	t.Parallel()
	r := memory.At(t.TempDir(), project)
	publish(t, r, 1, generation(1))
	publish(t, r, 2, generation(2))

	snap := current(t, r)
	if snap.Generation != 2 || len(snap.Edited) != 0 {
		t.Errorf("generation %d with edits %v, want 2 without", snap.Generation, snap.Edited)
	}
	if diff := cmp.Diff(generation(2), snap.Files); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(manifest(2), snap.Manifest); diff != "" {
		t.Error(diff)
	}
	for n := 1; n <= 2; n++ {
		files, err := r.ReadArchive(n)
		must(t, err)
		if diff := cmp.Diff(generation(n), files); diff != "" {
			t.Error(diff)
		}
	}
	if target, err := os.Readlink(r.Link()); err != nil || target != filepath.Join("live", "2") {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

func TestNothingIsVisibleBeforeTheSwap(t *testing.T) {
	t.Parallel()
	r := memory.At(t.TempDir(), project)
	must(t, r.Stage(t.Context(), 1, generation(1), manifest(1)))
	if snap := current(t, r); snap.Generation != 0 {
		t.Errorf("generation %d is live", snap.Generation)
	}
	if generations, err := r.Generations(); err != nil || len(generations) != 0 {
		t.Errorf("archives %v, %v", generations, err)
	}
	must(t, r.Discard(1))
	want := []string{".", "generations", "live"}
	if diff := cmp.Diff(want, names(t, r)); diff != "" {
		t.Error(diff)
	}
}

func TestTheSameGenerationGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	var first []byte
	for range 3 {
		r := memory.At(t.TempDir(), project)
		publish(t, r, 7, generation(7))
		archive, err := os.ReadFile(r.Archive(7))
		must(t, err)
		if first == nil {
			first = archive
		}
		if !bytes.Equal(archive, first) {
			t.Error("two archives of one generation differ")
		}
	}
	// The manifest's format must not change: the ledger keeps its hash.
	const golden = "782e3f53"
	if got := manifest(7).Hash()[:8]; got != golden {
		t.Errorf("the manifest's hash begins with %s, want %s:\n%s", got, golden, manifest(7).Encode())
	}
}

func TestFilesAreTheOwnersAloneAndNotExecutable(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "new", "home")
	r := memory.At(home, project)
	publish(t, r, 1, generation(1))
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		switch {
		case entry.IsDir():
			want = 0o700
		case entry.Type()&fs.ModeSymlink != 0:
			return nil
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
		return nil
	})
	must(t, err)
}

// Readers use the link while it is replaced 200 times.
func TestReadersSeeWholeGenerationsOnly(t *testing.T) {
	t.Parallel()
	home := quickDir(t)
	r := memory.At(home, project)
	publish(t, r, 1, generation(1))

	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			r := memory.At(home, project)
			last := 0
			for {
				snap, err := r.Current()
				if err != nil {
					t.Errorf("a reader failed: %v", err)
					return
				}
				if snap.Generation < last {
					t.Errorf("generation %d was read after %d", snap.Generation, last)
				}
				last = snap.Generation
				if !snap.Files.Equal(generation(last)) || len(snap.Edited) > 0 {
					t.Errorf("generation %d is mixed, or taken for edited: %v", last, snap.Edited)
					return
				}
				if text, err := r.Summary(); err != nil || !strings.HasPrefix(text, "# Summary\ngeneration ") {
					t.Errorf("the summary reads %q, %v", text, err)
				}
				if _, err := r.Open("memory://root/skills/deploy/scripts/go.sh"); err != nil {
					t.Errorf("open: %v", err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := 2; n <= 201; n++ {
		publish(t, r, n, generation(n))
		if _, err := r.Prune(5, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	readers.Wait()
	archives, err := filepath.Glob(filepath.Join(r.Dir(), "generations", "*"))
	if err != nil || len(archives) != 5 {
		t.Errorf("%d archives are kept, want 5", len(archives))
	}
	lives, err := filepath.Glob(filepath.Join(r.Dir(), "live", "*"))
	if err != nil || len(lives) != 2 {
		t.Errorf("%v are live, want the linked one and the one before", lives)
	}
}

// A stopped process that lost its lease continues while its successor publishes the same generation.
func TestAStoppedProcessDoesNotTouchItsSuccessorsFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	winner := memory.At(home, project)
	loser := memory.At(home, project)
	must(t, loser.Stage(t.Context(), 1, generation(1), manifest(1)))
	publish(t, winner, 1, generation(5))
	if _, err := winner.Recover(1); err != nil {
		t.Fatal(err)
	}
	if err := loser.Swap(1); err == nil {
		t.Error("the loser published")
	}
	if err := loser.Discard(1); err != nil {
		t.Error(err)
	}
	snap := current(t, winner)
	if !snap.Files.Equal(generation(5)) || len(snap.Edited) > 0 {
		t.Errorf("the winner's files changed: %v", snap.Edited)
	}
	if recovered, err := winner.Recover(1); err != nil || len(recovered.Removed) > 0 {
		t.Errorf("debris is left: %v, %v", recovered.Removed, err)
	}
}

func TestStagingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	lost := memoir.Errorf(memoir.CodeLeaseLost, "", "the lease is lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(lost)
	r := memory.At(t.TempDir(), project)
	if err := r.Stage(ctx, 1, generation(1), manifest(1)); memoir.CodeOf(err) != memoir.CodeLeaseLost {
		t.Errorf("got %v, want the context's cause", err)
	}
	if diff := cmp.Diff([]string{".", "generations", "live"}, names(t, r)); diff != "" {
		t.Error(diff)
	}
}

func TestALiveGenerationIsNotStagedOver(t *testing.T) {
	t.Parallel()
	r := memory.At(t.TempDir(), project)
	publish(t, r, 1, generation(1))
	if err := r.Stage(t.Context(), 1, generation(2), manifest(1)); memoir.CodeOf(err) != memoir.CodeChanged {
		t.Errorf("stage: %v", err)
	}
	if err := r.Swap(1); memoir.CodeOf(err) != memoir.CodeChanged {
		t.Errorf("swap: %v", err)
	}
	if err := r.Swap(2); memoir.CodeOf(err) != memoir.CodeStorage {
		t.Errorf("swap of what is not staged: %v", err)
	}
	if err := r.Stage(t.Context(), 2, memory.Files{"../x": nil}, manifest(2)); memoir.CodeOf(err) != memoir.CodeInvalid {
		t.Errorf("stage of an illegal path: %v", err)
	}
	if !current(t, r).Files.Equal(generation(1)) {
		t.Error("the live memory changed")
	}
}

func TestIDsThatLeadElsewhereStayInside(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`, "/abs", "C:x", "a\x00b", ".hidden"} {
		if dir := memory.At("/home/x", id).Dir(); filepath.Dir(dir) != "/home/x/projects" {
			t.Errorf("project %q has the folder %s", id, dir)
		}
	}
	if memory.At("/h", "a").Dir() == memory.At("/h", "../a").Dir() {
		t.Error("two projects share a folder")
	}
}
