package memory

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// Recovered is the result of Recover.
type Recovered struct {
	Linked  int       // the live generation afterwards, 0 if there is none
	Ahead   *Manifest // of the live generation, if it is newer than the recorded one; the caller records it
	Removed []string  // debris, relative to the project's folder
	Late    []string  // files of removed live directories that were saved too late and are kept (see Beside)
}

// Recover repairs a root after a crash. The caller holds the project's lease; recorded is the generation that
// its database has as live, 0 for none.
//
// Recover removes staged and unlinked directories, except the one before the live generation, which readers
// may still have open. It removes the archive of a generation that was never linked. It restores a lost link
// or live directory from a live directory or an archive. It never sets the link back to an older generation:
// a generation that readers may have seen stays, and is reported as Ahead.
func (r Root) Recover(recorded int) (Recovered, error) {
	var out Recovered
	var err error
	if out.Linked, err = r.relinked(recorded); err != nil {
		return out, err
	}
	if out.Linked > recorded {
		live, err := r.readLive(out.Linked)
		if err = cmp.Or(err, live.unknown); err != nil {
			return out, err
		}
		out.Ahead = &live.manifest
	}
	debris, err := r.debris()
	if err != nil {
		return out, err
	}
	for _, name := range debris {
		var late []string
		if n, live := generation(filepath.Base(name)); live && filepath.Dir(name) == liveName {
			late, err = r.removeLive(n)
		} else {
			err = failpoint.RemoveAll(filepath.Join(r.dir, name))
		}
		if out.Late = append(out.Late, late...); err != nil {
			return out, storageError(err, "remove %s, which a crash left in %s", name, r.dir)
		}
		out.Removed = append(out.Removed, name)
	}
	return out, nil
}

// Disturbed reports whether a crash left anything that Recover would repair, except a lost link or live
// directory. recorded is as in Recover.
func (r Root) Disturbed(recorded int) (bool, error) {
	linked, err := r.Linked()
	if err != nil || linked > recorded {
		return err == nil, err
	}
	debris, err := r.debris()
	return len(debris) > 0, err
}

// Next returns the next generation number: one more than the maximum of recorded and all numbers on disk.
func (r Root) Next(recorded int) (int, error) {
	lives, err1 := r.lives()
	archives, err2 := r.Kept()
	return slices.Max(append(append(lives, archives...), recorded)) + 1, errors.Join(err1, err2)
}

// debris lists the names that Recover removes, relative to the project's folder.
func (r Root) debris() ([]string, error) {
	linked, err := r.Linked()
	if err != nil {
		return nil, err
	}
	var debris []string
	for _, place := range []struct{ dir, prefix string }{
		{"", newLinkPrefix}, {liveName, stagePrefix}, {liveName, gonePrefix}, {archivesName, newArchiveMark},
	} {
		names, err := namesIn(filepath.Join(r.dir, place.dir))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasPrefix(name, place.prefix) {
				debris = append(debris, filepath.Join(place.dir, name))
			}
		}
	}
	if next, err := r.Next(0); err != nil || linked == 0 && next > 2 {
		return debris, err // the link is lost: any generation but a first one may have been linked
	}
	archives, err1 := r.Kept()
	lives, err2 := r.lives()
	previous, err3 := r.previous(linked)
	for _, n := range slices.Backward(archives) {
		if n > linked { // numbers only grow
			debris = append(debris, filepath.Join(archivesName, filepath.Base(r.Archive(n))))
		}
	}
	for _, n := range lives {
		if n != linked && n != previous {
			debris = append(debris, linkTarget(n))
		}
	}
	return debris, errors.Join(err1, err2, err3)
}

// relinked ensures that the link points to an existing generation: the linked one, else the recorded one, else
// the newest that can be restored. If none can, it removes the link.
func (r Root) relinked(recorded int) (linked int, err error) {
	linked, err = r.Linked()
	if err != nil || linked > 0 && !r.lost(linked) {
		return linked, err
	}
	lives, err := r.lives()
	if err != nil {
		return 0, err
	}
	unpublished := max(linked, recorded) + 1 // may be the rest of a crash
	slices.Reverse(lives)
	for _, n := range append([]int{linked, recorded}, lives...) {
		if n == 0 || n == unpublished {
			continue
		}
		if !r.lost(n) {
			return n, r.relink(n)
		}
		if err := r.rebuild(n); memoir.CodeOf(err) != memoir.CodeNotFound {
			return n, err
		}
	}
	return 0, storageError(disk.Discard(r.Link()), "remove the dangling link %s", r.Link())
}

// lost reports whether a live directory is missing or empty.
func (r Root) lost(n int) bool {
	entries, err := os.ReadDir(r.Live(n))
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !memoir.EditorsOwn(e.Name()) })
}

// rebuild publishes generation n, whose live directory is lost, from its archive. The error is
// memoir.CodeNotFound if it has no archive either.
func (r Root) rebuild(n int) error {
	files, m, err := r.ReadGeneration(n)
	if err == nil {
		err = failpoint.RemoveAll(r.Live(n))
	}
	if err == nil {
		err = r.Stage(context.Background(), n, files, m)
	}
	if err == nil {
		err = r.Swap(n)
	}
	return err
}

func (r Root) relink(n int) error {
	err := disk.Discard(r.stagedLink(n))
	if err == nil {
		err = failpoint.Symlink(linkTarget(n), r.stagedLink(n))
	}
	if err == nil {
		err = failpoint.Rename(r.stagedLink(n), r.Link())
	}
	if err == nil {
		err = disk.SyncDir(r.dir)
	}
	return storageError(err, "link generation %d", n)
}
