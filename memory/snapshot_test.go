//go:build unix

package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"memoir"
	"memoir/memory"
)

func TestBeforeTheFirstPublicationThereIsNothing(t *testing.T) {
	t.Parallel()
	r := memory.At(filepath.Join(t.TempDir(), "not", "there"), project)
	snap := current(t, r)
	if snap.Generation != 0 || len(snap.Files) != 0 || snap.Consolidation() != nil {
		t.Errorf("got %+v", snap)
	}
	if same, err := r.Unchanged(snap); err != nil || !same {
		t.Errorf("nothing has changed: %v, %v", same, err)
	}
	if text, err := r.Summary(); err != nil || text != "" {
		t.Errorf("the summary is %q, %v", text, err)
	}
	if recovered, err := r.Recover(0); err != nil || recovered.Linked != 0 {
		t.Errorf("recovery: %+v, %v", recovered, err)
	}
	if _, err := r.Prune(3, time.Time{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.Dir()); !os.IsNotExist(err) {
		t.Error("reading made a directory")
	}
}

func TestHandEditsAreFound(t *testing.T) {
	t.Parallel()
	r := memory.At(t.TempDir(), project)
	published := generation(1)
	publish(t, r, 1, published)
	write(t, r, "MEMORY.md", "# Memory\nby hand\n")
	write(t, r, "skills/deploy/scripts/new.sh", "echo new\n")
	write(t, r, "my notes.md", "mine\n")
	write(t, r, "empty.md", "")
	must(t, os.Remove(filepath.Join(r.Link(), "raw_memories.md")))
	// Temporary files of editors and the system are not edits.
	for _, name := range []string{".MEMORY.md.swp", "MEMORY.md~", "#MEMORY.md#", ".DS_Store", ".git/HEAD", "skills/.x"} {
		write(t, r, name, "x")
	}

	snap := current(t, r)
	want := []memory.Edit{
		{Path: "MEMORY.md", Published: published["MEMORY.md"], Now: []byte("# Memory\nby hand\n")},
		{Path: "empty.md", Now: []byte{}},
		{Path: "my notes.md", Now: []byte("mine\n")},
		{Path: "raw_memories.md", Published: published["raw_memories.md"]},
		{Path: "skills/deploy/scripts/new.sh", Now: []byte("echo new\n")},
	}
	if diff := cmp.Diff(want, snap.Edited); diff != "" {
		t.Error(diff)
	}
	if string(snap.Files["MEMORY.md"]) != "# Memory\nby hand\n" || snap.Files["raw_memories.md"] != nil {
		t.Error("the snapshot does not hold the files as they are now")
	}
	if snap.Manifest.Hash() != manifest(1).Hash() {
		t.Error("the manifest is not the published one")
	}
}

func TestChangesAfterASnapshotAreNoticed(t *testing.T) {
	t.Parallel()
	same := func(t *testing.T, r memory.Root, snap memory.Snapshot) bool {
		t.Helper()
		same, err := r.Unchanged(snap)
		must(t, err)
		return same
	}
	changes := map[string]func(t *testing.T, r memory.Root){
		"a file grew":      func(t *testing.T, r memory.Root) { write(t, r, "MEMORY.md", strings.Repeat("x", 1000)) },
		"a file appeared":  func(t *testing.T, r memory.Root) { write(t, r, "new.md", "") },
		"a new generation": func(t *testing.T, r memory.Root) { publish(t, r, 2, generation(1)) },
		"a file vanished": func(t *testing.T, r memory.Root) {
			must(t, os.Remove(filepath.Join(r.Link(), "MEMORY.md")))
		},
		"the same size at the same time": func(t *testing.T, r memory.Root) {
			name := filepath.Join(r.Link(), "MEMORY.md")
			info, err := os.Stat(name)
			must(t, err)
			write(t, r, "MEMORY.md", strings.Repeat("x", int(info.Size())))
			must(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			r := memory.At(t.TempDir(), project)
			publish(t, r, 1, generation(1))
			snap := current(t, r)
			if !same(t, r, snap) {
				t.Fatal("a change before there is one")
			}
			change(t, r)
			if same(t, r, snap) {
				t.Error("not noticed")
			}
			if now := current(t, r); now.Generation == snap.Generation && now.Files.Equal(snap.Files) {
				t.Error("read as it was")
			}
		})
	}
	t.Run("touched only", func(t *testing.T) {
		r := memory.At(t.TempDir(), project)
		publish(t, r, 1, generation(1))
		snap := current(t, r)
		must(t, os.Chtimes(filepath.Join(r.Link(), "MEMORY.md"), time.Now(), time.Now().Add(time.Hour)))
		if !same(t, r, snap) {
			t.Error("a touched file counts as changed")
		}
	})
}

func TestALiveMemoryThatCannotBeTrustedIsAnError(t *testing.T) {
	t.Parallel()
	replace := func(t *testing.T, name string, put func(name string) error) {
		t.Helper()
		must(t, os.RemoveAll(name))
		must(t, put(name))
	}
	tests := []struct {
		name    string
		damage  func(t *testing.T, r memory.Root)
		message string
	}{
		{"a directory in the link's place", func(t *testing.T, r memory.Root) {
			replace(t, r.Link(), func(name string) error { return os.Mkdir(name, 0o700) })
		}, "is not the link that memoir made, but a directory"},
		{"a file in the link's place", func(t *testing.T, r memory.Root) {
			replace(t, r.Link(), func(name string) error { return os.WriteFile(name, nil, 0o600) })
		}, "but a file"},
		{"a link elsewhere", func(t *testing.T, r memory.Root) {
			replace(t, r.Link(), func(name string) error { return os.Symlink("/etc", name) })
		}, "which is not a generation"},
		{"a link to a climbing path", func(t *testing.T, r memory.Root) {
			replace(t, r.Link(), func(name string) error { return os.Symlink("../other/live/1", name) })
		}, "which is not a generation"},
		{"a live directory that leads elsewhere", func(t *testing.T, r memory.Root) {
			replace(t, r.Live(2), func(name string) error { return os.Symlink("/etc", name) })
		}, "is a symbolic link"},
		{"a symbolic link among the files", func(t *testing.T, r memory.Root) {
			replace(t, filepath.Join(r.Live(2), "MEMORY.md"), func(name string) error { return os.Symlink("/etc/passwd", name) })
		}, "MEMORY.md is a symbolic link"},
		{"a symbolic link to a directory", func(t *testing.T, r memory.Root) {
			replace(t, filepath.Join(r.Live(2), "skills", "x"), func(name string) error { return os.Symlink("deploy", name) })
		}, "is a symbolic link"},
		{"names that are one where capitals do not count", func(t *testing.T, r memory.Root) {
			write(t, r, "Notes.md", "1")
			write(t, r, "notes.md", "2")
		}, "is in the way of Notes.md"},
		{"a name that another system does not take", func(t *testing.T, r memory.Root) {
			write(t, r, "a:b.md", "1")
		}, "has a character that not every system takes"},
		{"a named pipe", func(t *testing.T, r memory.Root) {
			replace(t, filepath.Join(r.Live(2), "MEMORY.md"), func(name string) error { return syscall.Mkfifo(name, 0o600) })
		}, "is a special file"},
		{"a huge file", func(t *testing.T, r memory.Root) {
			must(t, os.Truncate(filepath.Join(r.Live(2), "MEMORY.md"), 1<<40))
		}, "MEMORY.md is larger than 16777216 bytes"},
		{"an edit with an archive that cannot be opened", func(t *testing.T, r memory.Root) {
			write(t, r, "MEMORY.md", "x")
			replace(t, r.Archive(2), func(name string) error { return os.Mkdir(name, 0o700) })
		}, "find the hand edits of generation 2"},
		{"everything removed from the live directory", func(t *testing.T, r memory.Root) {
			replace(t, r.Live(2), func(name string) error { return os.Mkdir(name, 0o700) })
		}, "is empty"},
		{"no live directory", func(t *testing.T, r memory.Root) {
			replace(t, r.Live(2), func(string) error { return nil })
		}, "are gone"},
		{"no link", func(t *testing.T, r memory.Root) {
			replace(t, r.Link(), func(string) error { return nil })
		}, "is gone, though 2 generations were published"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, r := twoGenerations(t)
			test.damage(t, r)
			_, err := r.Current()
			if err == nil || !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v, want an error about %q", err, test.message)
			}
			if memoir.HintOf(err) == "" {
				t.Errorf("%v has no hint", err)
			}
		})
	}
}

func TestALostManifestIsReadFromTheArchive(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(string) error{
		"deleted": os.Remove,
		"damaged": func(name string) error { return os.WriteFile(name, []byte("{"), 0o600) },
	} {
		_, r := twoGenerations(t)
		must(t, damage(filepath.Join(r.Link(), "manifest.json")))
		write(t, r, "raw_memories.md", "edited")
		snap := current(t, r)
		want := []memory.Edit{{Path: "raw_memories.md"}}
		if diff := cmp.Diff(want, snap.Edited, cmpopts.IgnoreFields(memory.Edit{}, "Now", "Published")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if snap.Manifest.Hash() != manifest(2).Hash() {
			t.Errorf("%s: another manifest", name)
		}
	}
}
