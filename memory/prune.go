package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memoir/internal/failpoint"
)

// Prune removes what is no longer wanted after a publication: the archives
// beyond the newest keep (at least one), those written before a time, if it is not
// zero, and the live directories before the previous one, unless somebody saved
// something there that no generation has: the next publication will have it.
//
// Two archives always stay: the live generation's, and the one of the state that
// it was restored over. By these it is told what people changed.
func (r Root) Prune(keep int, before time.Time) error {
	linked, err := r.linked()
	if err != nil {
		return err
	}
	archives, err := r.archives()
	if err != nil {
		return err
	}
	over := 0
	if linked > 0 {
		m, err := r.liveManifest(linked)
		if err != nil {
			return err
		}
		over = m.RestoredOver
	}
	beyond := max(0, len(archives)-max(keep, 1))
	for i, n := range archives {
		if n == linked || n == over || i >= beyond && !r.olderThan(n, before) {
			continue
		}
		if err := r.step("remove archive"); err != nil {
			return err
		}
		if err := remove(r.Archive(n)); err != nil {
			return storageError(err, "remove the archive of generation %d", n)
		}
	}
	previous, err := r.previous(linked)
	if err != nil {
		return err
	}
	return r.removeLives(func(n int) bool { return n < previous && r.unwanted(n, linked, previous) })
}

// olderThan reports whether an archive was written before a time; what cannot be
// told is not.
func (r Root) olderThan(n int, before time.Time) bool {
	info, err := os.Stat(r.Archive(n))
	return err == nil && !before.IsZero() && info.ModTime().Before(before)
}

// RemovePrevious removes the live directories that readers may still have open.
// It is for what must be gone at once; else the next publication does it.
func (r Root) RemovePrevious() error {
	linked, err := r.linked()
	if err != nil {
		return err
	}
	return r.removeLives(func(n int) bool { return n != linked })
}

func (r Root) removeLives(unwanted func(n int) bool) error {
	lives, err := r.lives()
	if err != nil {
		return err
	}
	for _, n := range lives {
		if !unwanted(n) {
			continue
		}
		if err := r.removeLive(n); err != nil {
			return storageError(err, "remove the earlier live directory %d", n)
		}
	}
	return nil
}

// Clear removes the live memory, and the archives too if asked. The link goes
// first: a reader finds the whole memory or none.
func (r Root) Clear(archives bool) error {
	if _, err := r.linked(); err != nil {
		return err
	}
	if err := remove(r.Link()); err != nil {
		return storageError(err, "remove %s", r.Link())
	}
	dirs := []string{liveName}
	if archives {
		dirs = append(dirs, archivesName)
	}
	for _, dir := range dirs {
		if err := failpoint.RemoveAll(filepath.Join(r.dir, dir)); err != nil {
			return storageError(err, "remove %s", filepath.Join(r.dir, dir))
		}
	}
	if err := syncDir(r.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError(err, "flush %s", r.dir)
	}
	return nil
}
