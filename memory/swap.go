package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// Swap publishes the generation n that this Root staged: it renames the directory and the archive, and then
// replaces the link by one rename. A reader sees the whole earlier generation before this rename, and the whole
// new one after it. byHand are the staged states that people edited, in ascending order.
//
// Swap only renames and flushes directories. The caller calls it within the transaction that proves its lease. If this
// transaction fails to commit, the link is newer than the recorded generation, and Recover reports it as Ahead.
func (r Root) Swap(n int, byHand ...int) error {
	linked, err := r.Linked()
	if err != nil {
		return err
	}
	if linked == n && !r.lost(n) {
		return memoir.Errorf(memoir.CodeChanged, "", "generation %d is already live", n)
	}
	if _, err := os.Lstat(r.stagedLink(n)); err != nil {
		return storageError(err, "publish generation %d, which is not staged", n)
	}
	return storageError(r.swap(n, byHand), "publish generation %d in %s", n, r.dir)
}

func (r Root) swap(n int, byHand []int) error {
	live, archives := filepath.Join(r.dir, liveName), filepath.Join(r.dir, archivesName)
	// An existing directory is the rest of a crash: if it had been linked, Recover would have reported it.
	if _, err := r.removeLive(n); err != nil {
		return err
	}
	type move struct{ step, from, to string }
	// The directory is first, then the archives in their order: Recover depends on it.
	moves := []move{{"name directory", r.Staged(n), r.Live(n)}}
	for _, h := range append(slices.Clone(byHand), n) {
		moves = append(moves, move{"name archive", r.stagedArchive(h), r.Archive(h)})
	}
	for _, m := range moves {
		if err := failpoint.Before(m.step); err != nil {
			return err
		}
		if err := os.Rename(m.from, m.to); err != nil {
			return err
		}
	}
	for _, dir := range []string{live, archives} {
		if err := disk.SyncDir(dir); err != nil {
			return err
		}
	}
	if err := failpoint.Before("replace link"); err != nil {
		return err
	}
	if err := os.Rename(r.stagedLink(n), r.Link()); err != nil {
		return err
	}
	return disk.SyncDir(r.dir)
}

// removeLive removes the directory of generation n unless it is linked, and returns its files that were saved
// too late and are kept. It renames the directory first, so that nobody reads it half removed, and renames it
// back if it was linked meanwhile.
func (r Root) removeLive(n int) (kept []string, err error) {
	if linked, err := r.Linked(); err != nil || linked == n {
		return nil, err
	}
	if kept, err = r.keepLate(n); err != nil {
		return kept, err
	}
	renamed := filepath.Join(r.dir, liveName, gonePrefix+filepath.Base(r.Live(n))+"-"+r.attempt)
	if err := failpoint.Before("set aside"); err != nil {
		return kept, err
	}
	switch err := os.Rename(r.Live(n), renamed); {
	case errors.Is(err, fs.ErrNotExist):
		return kept, nil
	case errors.Is(err, syscall.EXDEV):
		// A directory of an overlay's lower layer cannot be renamed, but it is not linked.
		return kept, failpoint.RemoveAll(r.Live(n))
	case err != nil:
		return kept, err
	}
	if linked, err := r.Linked(); err == nil && linked == n {
		return kept, failpoint.Rename(renamed, r.Live(n))
	}
	return kept, failpoint.RemoveAll(renamed)
}

// Prune removes old generations after a publication: archives beyond the newest keep (at least one), archives
// written before a time unless it is zero, and the live directories before the previous one. It returns the
// files of these directories that were saved too late and are kept (see Beside).
//
// It never removes the live generation's archive, which is needed to find hand edits.
func (r Root) Prune(keep int, before time.Time) (kept []string, err error) {
	linked, err1 := r.Linked()
	archives, err2 := r.Kept()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	beyond := max(0, len(archives)-max(keep, 1))
	for i, n := range archives {
		if n == linked || i >= beyond && !r.olderThan(n, before) {
			continue
		}
		if err := disk.Discard(r.Archive(n)); err != nil {
			return nil, storageError(err, "remove the archive of generation %d", n)
		}
	}
	previous, err := r.previous(linked)
	if err != nil {
		return nil, err
	}
	return r.removeLives(func(n int) bool { return n < previous })
}

// olderThan reports whether an archive was written before a time; false if its time is unknown.
func (r Root) olderThan(n int, before time.Time) bool {
	info, err := os.Stat(r.Archive(n))
	return err == nil && !before.IsZero() && info.ModTime().Before(before)
}

// RemovePrevious removes the earlier live directories, which readers may still have open. It is for content that must
// be removed immediately; otherwise later publications remove them. It returns the same files as Prune.
func (r Root) RemovePrevious() (kept []string, err error) {
	linked, err := r.Linked()
	if err != nil {
		return nil, err
	}
	return r.removeLives(func(n int) bool { return n != linked })
}

func (r Root) removeLives(unwanted func(n int) bool) (kept []string, err error) {
	lives, err := r.lives()
	if err != nil {
		return nil, err
	}
	for _, n := range lives {
		if !unwanted(n) {
			continue
		}
		late, err := r.removeLive(n)
		kept = append(kept, late...)
		if err != nil {
			return kept, storageError(err, "remove the earlier live directory %d", n)
		}
	}
	return kept, nil
}

// Remove removes a project's whole folder, the link first, so that a reader finds the whole memory or none.
func (r Root) Remove() error {
	err := disk.Discard(r.Link())
	if err == nil {
		err = failpoint.RemoveAll(r.dir)
	}
	if err != nil {
		return storageError(err, "remove %s", r.dir)
	}
	return syncIfThere(filepath.Dir(r.dir))
}
