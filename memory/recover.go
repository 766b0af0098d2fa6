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
	"memoir/internal/failpoint"
)

// Recovered says what Recover found and did.
type Recovered struct {
	Linked  int       // the live generation afterwards, 0 if there is none
	Ahead   *Manifest // of the live generation, if it is newer than the recorded one: to be recorded
	Rebuilt bool      // the link or the live directory was lost, and made again from what was kept
	Removed []string  // debris, relative to the project's folder
	Late    []string  // files of removed live directories that were saved too late and are kept (see Beside)
	Next    int       // the next generation number that nothing on disk uses
}

// Recover puts a root in order after a crash. The caller holds the project's
// lease; recorded is the generation that its database knows as live, 0 for none.
//
// Staged and unlinked directories are removed, except the one before the live
// generation, which readers may still have open. So is the archive of a
// generation that never was linked. A link or a live directory that is gone
// altogether is made again from what was kept. The link itself is never taken back: what
// readers were shown stays, and is reported as Ahead.
func (r Root) Recover(recorded int) (Recovered, error) {
	var out Recovered
	var err error
	if out.Linked, out.Rebuilt, err = r.relinked(recorded); err != nil {
		return out, err
	}
	if out.Linked > 0 {
		if err := r.rearchive(out.Linked); err != nil {
			return out, err
		}
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
		late, err := r.removeDebris(name)
		out.Late = append(out.Late, late...)
		if err != nil {
			return out, storageError(err, "remove %s, which a crash left in %s", name, r.dir)
		}
		out.Removed = append(out.Removed, name)
	}
	out.Next, err = r.Next(max(recorded, out.Linked))
	return out, err
}

// Disturbed reports whether a crash left anything that Recover would put in order,
// but for a link or a live directory that is gone. recorded is as in Recover.
func (r Root) Disturbed(recorded int) (bool, error) {
	linked, err := r.Linked()
	if err != nil || linked > recorded {
		return err == nil, err
	}
	debris, err := r.debris()
	return len(debris) > 0, err
}

// removeDebris removes one of the names that debris lists, and returns the files in it that
// were saved too late and are kept.
func (r Root) removeDebris(name string) (late []string, err error) {
	if filepath.Dir(name) == liveName {
		if n, ok := generation(filepath.Base(name)); ok {
			return r.removeLive(n)
		}
	}
	return nil, failpoint.RemoveAll(filepath.Join(r.dir, name))
}

// Next is the number of the generation to follow: one more than the given one
// and than any that the disk still has.
func (r Root) Next(recorded int) (int, error) {
	lives, err := r.lives()
	if err != nil {
		return 0, err
	}
	archives, err := r.Kept()
	if err != nil {
		return 0, err
	}
	return slices.Max(append(append(lives, archives...), recorded)) + 1, nil
}

// debris lists what Recover would remove, relative to the project's folder.
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
		return debris, err // the link is lost; only of a first generation it is sure that it never was
	}
	archives, err := r.Kept()
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(archives) {
		if n > linked { // numbers only grow
			debris = append(debris, filepath.Join(archivesName, filepath.Base(r.Archive(n))))
		}
	}
	lives, err := r.lives()
	if err != nil {
		return nil, err
	}
	previous, err := r.previous(linked)
	if err != nil {
		return nil, err
	}
	for _, n := range lives {
		if n != linked && n != previous {
			debris = append(debris, linkTarget(n))
		}
	}
	return debris, nil
}

// relinked sees to it that the link leads to a generation that is there. That is
// the linked one, else the recorded one, else the newest of which enough is kept;
// with nothing left there is no link.
func (r Root) relinked(recorded int) (linked int, rebuilt bool, err error) {
	linked, err = r.Linked()
	if err != nil || linked > 0 && !r.lost(linked) {
		return linked, false, err
	}
	lives, err := r.lives()
	if err != nil {
		return 0, false, err
	}
	unpublished := max(linked, recorded) + 1 // what a crash may have left
	slices.Reverse(lives)
	for _, n := range append([]int{linked, recorded}, lives...) {
		if n == 0 || n == unpublished {
			continue
		}
		if !r.lost(n) {
			return n, true, r.relink(n)
		}
		if err := r.rebuild(n); memoir.CodeOf(err) != memoir.CodeNotFound {
			return n, true, err
		}
	}
	if err := remove(r.Link()); err != nil {
		return 0, false, storageError(err, "remove the dangling link %s", r.Link())
	}
	return 0, false, nil
}

// lost reports whether nothing is left of a live directory.
func (r Root) lost(n int) bool {
	entries, err := os.ReadDir(r.Live(n))
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !memoir.EditorsOwn(e.Name()) })
}

// rebuild publishes generation n, whose live directory is lost, again from its archive. It
// fails with memoir.CodeNotFound where that is not kept either.
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

// relink makes the link lead to generation n.
func (r Root) relink(n int) error {
	err := remove(r.stagedLink(n))
	if err == nil {
		err = failpoint.Symlink(linkTarget(n), r.stagedLink(n))
	}
	if err == nil {
		err = failpoint.Rename(r.stagedLink(n), r.Link())
	}
	if err == nil {
		err = syncDir(r.dir)
	}
	if err != nil {
		return storageError(err, "link generation %d", n)
	}
	return nil
}

// rearchive writes the archive of a live generation again if it is gone or damaged and
// the files that were published are all there. Hand edits are found by it. If people have
// changed these files meanwhile, what was published is lost, and nothing is done.
func (r Root) rearchive(n int) error {
	if _, _, err := r.ReadGeneration(n); err == nil {
		return nil
	}
	live, err := r.readLive(n)
	m := live.manifest
	files := m.published(live.files)
	if err != nil || live.unknown != nil || len(files) < len(m.Files) {
		return err
	}
	err = errors.Join(makeDir(filepath.Join(r.dir, archivesName)), remove(r.stagedArchive(n)))
	if err == nil {
		err = r.writeArchive(n, files, m.Encode())
	}
	if err == nil {
		err = r.readArchiveBack(n, m)
	}
	if err == nil {
		err = failpoint.Rename(r.stagedArchive(n), r.Archive(n))
	}
	if err != nil {
		return storageError(err, "recreate the archive of generation %d", n)
	}
	return syncIfThere(filepath.Join(r.dir, archivesName))
}
