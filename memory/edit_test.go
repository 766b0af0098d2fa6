//go:build unix

package memory_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir/memory"
)

func TestAnEditedStateIsKeptWithTheGenerationThatFollows(t *testing.T) {
	t.Parallel()
	_, r := twoGenerations(t)
	write(t, r, "MEMORY.md", "by hand\n")
	live := current(t, r)
	byHand := memory.Manifest{EditedFrom: live.Generation, Inputs: live.Manifest.Inputs}
	if err := errors.Join(r.Stage(t.Context(), 3, live.Files, byHand),
		r.Stage(t.Context(), 4, generation(4), manifest(4)), r.Swap(4, 3)); err != nil {
		t.Fatal(err)
	}
	files, m, err := r.ReadGeneration(3)
	must(t, err)
	want := generation(2)
	want["MEMORY.md"] = []byte("by hand\n")
	if !files.Equal(want) || m.EditedFrom != 2 {
		t.Errorf("generation 3 is of %d: %s", m.EditedFrom, cmp.Diff(want, files))
	}
	if diff := cmp.Diff(manifest(2).Inputs, m.Inputs); diff != "" {
		t.Errorf("it rests on other sessions:\n%s", diff)
	}
	snap := current(t, r)
	if snap.Generation != 4 || len(snap.Edited) > 0 || !snap.Files.Equal(generation(4)) {
		t.Errorf("generation %d is live, edits %v", snap.Generation, snap.Edited)
	}
	if recovered, err := r.Recover(4); err != nil || len(recovered.Removed) != 1 {
		t.Errorf("recovered %+v, %v", recovered, err)
	}
	if _, err := os.Lstat(r.Live(3)); !os.IsNotExist(err) {
		t.Errorf("a state by hand has a live directory: %v", err)
	}
}

func TestAFileThatPeopleAddIsToldWithoutTheArchive(t *testing.T) {
	t.Parallel()
	_, r := twoGenerations(t)
	write(t, r, "mine.md", "by hand\n")
	must(t, os.Remove(r.Archive(2)))
	want := []memory.Edit{{Path: "mine.md", Now: []byte("by hand\n")}}
	if diff := cmp.Diff(want, current(t, r).Edited); diff != "" {
		t.Error(diff)
	}
}

func TestAFileThatWasSavedTooLateIsKeptBesideTheMemory(t *testing.T) {
	t.Parallel()
	prune := func(r memory.Root) ([]string, error) { return r.Prune(10, time.Time{}) }
	recovery := func(r memory.Root) ([]string, error) {
		recovered, err := r.Recover(3)
		return recovered.Late, err
	}
	for name, test := range map[string]struct {
		remove func(memory.Root) ([]string, error)
		beside func(r memory.Root) error
	}{
		"by pruning":           {prune, nil},
		"as earlier directory": {memory.Root.RemovePrevious, nil},
		"by recovery":          {recovery, nil},
		"beside a symbolic link": {prune, func(r memory.Root) error {
			return os.Symlink("/etc/hostname", filepath.Join(r.Live(1), "l.md"))
		}},
		"beside a large file": {prune, func(r memory.Root) error {
			return os.WriteFile(filepath.Join(r.Live(1), "big.md"), make([]byte, 64<<20), 0o600)
		}},
		"a following generation without manifest": {prune, func(r memory.Root) error {
			return os.Remove(filepath.Join(r.Live(2), "manifest.json"))
		}},
		"an older time, as mv leaves it": {prune, func(r memory.Root) error {
			old := time.Now().Add(-time.Hour)
			return errors.Join(os.Chtimes(filepath.Join(r.Live(1), "MEMORY.md"), old, old),
				os.Chtimes(filepath.Join(r.Live(2), "manifest.json"), old, time.Now().Add(-time.Minute)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && strings.Contains(name, "mv") {
				t.Skip("only Linux is asked when a file was moved")
			}
			_, r := twoGenerations(t)
			late := filepath.Join(r.Live(1), "MEMORY.md")
			err := errors.Join(os.WriteFile(late, []byte("late\n"), 0o600), os.Chtimes(late, time.Time{}, time.Now().Add(time.Minute)))
			if err == nil && test.beside != nil {
				err = test.beside(r)
			}
			must(t, err)
			publish(t, r, 3, generation(3))
			if kept, err := test.remove(r); err != nil || len(kept) == 0 {
				t.Fatalf("kept %v, %v", kept, err)
			}
			if found, err := r.Beside(); err != nil || string(found["unmerged/1/MEMORY.md"]) != "late\n" {
				t.Errorf("not among %v, %v", found.Paths(), err)
			}
			if _, err := os.Lstat(r.Live(1)); !os.IsNotExist(err) {
				t.Errorf("the directory is still there: %v", err)
			}
			if snap := current(t, r); len(snap.Edited) > 0 || !snap.Files.Equal(generation(3)) {
				t.Errorf("the live memory has it: %v", snap.Edited)
			}
			if again, err := test.remove(r); err != nil || len(again) > 0 {
				t.Errorf("kept again: %v, %v", again, err)
			}
		})
	}
}

func TestOldArchivesGoByCountAndAge(t *testing.T) {
	t.Parallel()
	hour := func(n int) time.Time { return time.Date(2026, 5, 1, n, 0, 0, 0, time.UTC) }
	tests := []struct {
		name   string
		keep   int
		before time.Time
		want   []int
	}{
		{"neither", 10, time.Time{}, []int{1, 2, 3, 4, 5}},
		{"by count", 2, time.Time{}, []int{4, 5}},
		{"at least one", 0, time.Time{}, []int{5}},
		{"by age", 10, hour(3), []int{3, 4, 5}},
		{"whichever is stricter", 2, hour(2), []int{4, 5}},
		{"the live one, however old", 10, hour(20), []int{5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := memory.At(quickDir(t), project)
			for n := 1; n <= 5; n++ {
				publish(t, r, n, generation(n))
				must(t, os.Chtimes(r.Archive(n), hour(n), hour(n)))
			}
			if _, err := r.Prune(test.keep, test.before); err != nil {
				t.Fatal(err)
			}
			generations, err := r.Generations()
			var got []int
			for _, g := range generations {
				got = append(got, g.Number)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestAManifestThatRestsOnALaterGenerationIsRefused(t *testing.T) {
	t.Parallel()
	for _, m := range []memory.Manifest{{EditedFrom: 3}, {RestoredFrom: 4}, {EditedFrom: -1}} {
		_, r := twoGenerations(t)
		if err := r.Stage(t.Context(), 3, generation(3), m); err == nil {
			t.Errorf("%+v was staged", m)
		}
	}
}
