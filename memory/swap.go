package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"memoir"
	"memoir/internal/failpoint"
)

// Swap publishes the generation n that this Root staged: its directory and its
// archive get their names, then the link is replaced by one rename. A reader
// sees the earlier generation whole until that rename, and this one after it.
// byHand are the states that StageArchive staged, in ascending order.
//
// It is renames and flushes of directories alone, and belongs into the caller's
// transaction that proves its lease. If that transaction fails to commit, the
// link is ahead of what is recorded, and Recover says so.
func (r Root) Swap(n int, byHand ...int) error {
	linked, err := r.linked()
	if err != nil {
		return err
	}
	if linked == n {
		return memoir.Errorf(memoir.CodeChanged, "", "generation %d is live already", n)
	}
	if _, err := os.Lstat(r.stagedLink(n)); err != nil {
		return storageError(err, "publish generation %d, which is not staged", n)
	}
	if err := r.swap(n, byHand); err != nil {
		return storageError(err, "publish generation %d in %s", n, r.dir)
	}
	return nil
}

func (r Root) swap(n int, byHand []int) error {
	live, archives := filepath.Join(r.dir, liveName), filepath.Join(r.dir, archivesName)
	// A directory that stands there was never linked, else Recover would have
	// said so: it is what a crash left.
	if err := r.removeLive(n); err != nil {
		return err
	}
	type move struct{ step, from, to string }
	// The directory comes first and the archives in their order: by these Debris
	// knows what a crash left in between.
	moves := []move{{"name directory", r.Staged(n), r.Live(n)}}
	for _, h := range append(slices.Clone(byHand), n) {
		moves = append(moves, move{"name archive", r.stagedArchive(h), r.Archive(h)})
	}
	for _, m := range moves {
		if err := r.step(m.step); err != nil {
			return err
		}
		if err := os.Rename(m.from, m.to); err != nil {
			return err
		}
	}
	for _, dir := range []string{live, archives} {
		if err := r.sync(dir); err != nil {
			return err
		}
	}
	if err := r.step("replace link"); err != nil {
		return err
	}
	if err := os.Rename(r.stagedLink(n), r.Link()); err != nil {
		return err
	}
	return r.sync(r.dir)
}

// removeLive removes the directory of generation n unless it is linked. It is
// moved aside first, so that nobody can find it half removed, and moved back if
// the link turns out to lead there by now.
func (r Root) removeLive(n int) error {
	if linked, err := r.linked(); err != nil || linked == n {
		return err
	}
	aside := filepath.Join(r.dir, liveName, gonePrefix+filepath.Base(r.Live(n))+"-"+r.attempt)
	if err := r.step("set aside"); err != nil {
		return err
	}
	switch err := os.Rename(r.Live(n), aside); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EXDEV):
		// A directory of an overlay's lower layer can't be moved, but it is not linked.
		return os.RemoveAll(r.Live(n))
	case err != nil:
		return err
	}
	if linked, err := r.linked(); err == nil && linked == n {
		return failpoint.Rename(aside, r.Live(n))
	}
	if err := r.step("remove"); err != nil {
		return err
	}
	return failpoint.RemoveAll(aside)
}

// isNotDir reports that a parent of a path is a file, so that nothing can stand there.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
