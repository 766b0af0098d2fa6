package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memoir"
)

// Snapshot is the live memory as it was read at one time.
type Snapshot struct {
	Generation int      // 0: there is no memory yet
	Files      Files    // as they are now, hand edits included
	Manifest   Manifest // as published
	Edited     []Edit   // hand edits since publication, by path
	Lost       error    // why files that people changed could not be compared with the archive
}

// Consolidation converts the files to Phase 2's result, nil if there is no memory yet.
func (s Snapshot) Consolidation() *memoir.Consolidation {
	if s.Generation == 0 {
		return nil
	}
	c := s.Files.Consolidation()
	c.Citations, c.Anchors, c.Lines = s.Manifest.Citations, s.Manifest.Anchors, s.Manifest.Lines
	return &c
}

// tries bounds the reads of a memory while other processes publish.
const tries = 20

// Current reads the live memory and finds its hand edits. Without a memory, the Snapshot is empty and the error nil.
//
// The error is memoir.CodeInvalid if `memory` is not memoir's link. It is memoir.CodeStorage for a symbolic
// link among the files and an unreadable file. After an error, the caller must not publish.
func (r Root) Current() (Snapshot, error) { return reading(r, r.read) }

// reading calls read with the live generation, 0 if there is none. It repeats the call if another generation was
// published meanwhile, since the directory may be gone.
func reading[T any](r Root, read func(n int) (T, error)) (found T, err error) {
	for try := 1; ; try++ {
		n, err := r.Linked()
		if err != nil {
			return found, err
		}
		found, err = read(n)
		if after, linkErr := r.Linked(); linkErr == nil && after == n || try == tries {
			return found, err
		}
	}
}

// Edited reports whether a person changed or deleted MEMORY.md or memory_summary.md since publication. If neither
// was written since then, no file is read. It is false if the memory cannot be read, which Current reports.
func (r Root) Edited() bool {
	staged, err := os.Lstat(r.Link()) // Stage makes the link after the files
	if err != nil {
		return false
	}
	return slices.ContainsFunc([]string{memoir.MemoryFile, memoir.SummaryFile}, func(name string) bool {
		info, err := os.Stat(filepath.Join(r.Link(), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !changed(info).After(staged.ModTime()) {
			return false
		}
		snap, err := r.Current()
		return err == nil && len(snap.Edited) > 0
	})
}

func (r Root) read(n int) (Snapshot, error) {
	snap := Snapshot{Generation: n, Files: Files{}}
	if n == 0 {
		return snap, r.lostLink()
	}
	live, err := r.readLive(n)
	if err = cmp.Or(err, live.unknown); err != nil {
		return Snapshot{}, err
	}
	snap.Files, snap.Manifest = live.files, live.manifest
	err = r.findEdits(&snap)
	return snap, err
}

// A liveTree is a live directory as it was read.
type liveTree struct {
	files    Files
	manifest Manifest
	unknown  error // why the manifest cannot be read
}

func (r Root) readLive(n int) (live liveTree, err error) {
	root, err := r.openLive(n)
	if err != nil {
		return live, err
	}
	defer root.Close()
	if live.files, err = readTree(root); err == nil {
		live.manifest, live.unknown = r.manifest(root, n, len(live.files) > 0)
	}
	return live, err
}

// lostLink returns an error if a project without a link has published generations.
func (r Root) lostLink() error {
	lives, err := r.lives()
	if err != nil || len(lives) == 0 {
		return err
	}
	archives, err := r.Kept()
	if err != nil || len(archives) == 0 {
		return err // an interrupted first publication
	}
	last := archives[len(archives)-1]
	if last == 1 {
		return nil
	}
	return memoir.Errorf(memoir.CodeStorage, "`memoir rebuild` and `memoir run` link the newest generation again",
		"%s is gone, though %d generations were published", r.Link(), last)
}

// openLive opens the directory of a live generation. It follows no symbolic link out of the project's folder.
func (r Root) openLive(n int) (*os.Root, error) {
	project, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, storageError(err, "open %s", r.dir)
	}
	defer project.Close()
	root, err := project.OpenRoot(linkTarget(n))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, memoir.Errorf(memoir.CodeStorage, "`memoir rebuild` and `memoir run` put them back",
			"the files of generation %d are gone from %s", n, r.dir)
	}
	if err != nil {
		for _, path := range []string{filepath.Join(r.dir, liveName), r.Live(n)} {
			if info, statErr := os.Lstat(path); statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
				return nil, memoir.Errorf(memoir.CodeStorage,
					"replace it with its target; to move the whole home, use --home DIR or MEMOIR_HOME",
					"%s is a symbolic link, which is not followed out of the project's directory", path)
			}
		}
		return nil, storageError(err, "open %s", r.Live(n))
	}
	return root, nil
}

// manifest reads the manifest of a live generation, from its archive if the file is missing or damaged. any
// tells whether the directory has other files; an empty directory is an error, not a hand edit.
func (r Root) manifest(root *os.Root, n int, any bool) (Manifest, error) {
	data, err := readBounded(root, manifestName)
	if err == nil {
		if m, err := parseManifest(data); err == nil && m.Generation == n {
			return m, nil
		}
	} else if errors.Is(err, fs.ErrNotExist) && !any {
		return Manifest{}, memoir.Errorf(memoir.CodeStorage,
			"`memoir rebuild` and `memoir run` put the files back; `memoir clear` removes the memory",
			"%s is empty", r.Live(n))
	} else if errors.Is(err, fs.ErrPermission) {
		return Manifest{}, storageError(err, "read %s", filepath.Join(r.Live(n), manifestName))
	}
	_, m, err := r.openArchive(r.Archive(n), n, false)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s of generation %d is missing or damaged, and so is its archive: %w",
			manifestName, n, err)
	}
	return m, nil
}

// Unchanged reports whether the live memory still equals the snapshot.
func (r Root) Unchanged(snap Snapshot) (bool, error) {
	n, err := r.Linked()
	if err != nil || n != snap.Generation {
		return false, err
	}
	if n == 0 {
		return true, nil
	}
	live, err := r.readLive(n)
	return err == nil && live.files.Equal(snap.Files), err
}
