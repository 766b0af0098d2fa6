package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Prune removes what is no longer wanted after a publication: the archives
// beyond the newest keep (at least one; the live generation's always stays), and
// the live directories before the previous one.
func (r Root) Prune(keep int) error {
	linked, err := r.linked()
	if err != nil {
		return err
	}
	archives, err := r.archives()
	if err != nil {
		return err
	}
	for _, n := range archives[:max(0, len(archives)-max(keep, 1))] {
		if n == linked {
			continue
		}
		if err := remove(r.Archive(n)); err != nil {
			return storageError(err, "remove the archive of generation %d", n)
		}
	}
	previous, err := r.previous(linked)
	if err != nil {
		return err
	}
	return r.removeLives(func(n int) bool { return n < previous })
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
		if err := os.RemoveAll(filepath.Join(r.dir, dir)); err != nil {
			return storageError(err, "remove %s", filepath.Join(r.dir, dir))
		}
	}
	if err := syncDir(r.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError(err, "flush %s", r.dir)
	}
	return nil
}
