package memory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/internal/failpoint"
)

// relinked sees to it that the link leads to a generation that is there. That is
// the linked one, else the recorded one, else the newest of which enough is kept;
// with nothing left there is no link.
func (r Root) relinked(recorded int) (linked int, rebuilt bool, err error) {
	linked, err = r.linked()
	if err != nil {
		return 0, false, err
	}
	if linked > 0 && !r.lost(linked) {
		return linked, false, nil
	}
	lives, err := r.lives()
	if err != nil {
		return 0, false, err
	}
	unpublished := max(linked, recorded) + 1 // what a crash may have left
	candidates := []int{linked, recorded}
	for _, n := range slices.Backward(lives) {
		if n != unpublished {
			candidates = append(candidates, n)
		}
	}
	for _, n := range candidates {
		if n == 0 {
			continue
		}
		if r.lost(n) {
			err := r.rebuild(n)
			if code := memoir.CodeOf(err); code == memoir.CodeNotFound {
				continue
			}
			if err != nil {
				return 0, false, err
			}
		} else if _, err := r.liveManifest(n); err != nil {
			continue
		}
		if n == linked {
			return n, true, nil
		}
		return n, true, r.relink(n)
	}
	if err := remove(r.Link()); err != nil {
		return 0, false, storageError(err, "remove %s, which leads nowhere", r.Link())
	}
	return 0, false, nil
}

// liveManifest reads the manifest of a generation that has a live directory.
func (r Root) liveManifest(n int) (Manifest, error) {
	root, err := r.openLive(n)
	if err != nil {
		return Manifest{}, err
	}
	defer root.Close()
	return r.manifest(root, n, true)
}

// lost reports whether nothing is left of a live directory.
func (r Root) lost(n int) bool {
	entries, err := os.ReadDir(r.Live(n))
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !foreign(e.Name()) })
}

// rebuild makes the live directory of generation n again from its archive. It
// fails with memoir.CodeNotFound where that is not kept either.
func (r Root) rebuild(n int) error {
	files, m, err := r.ReadGeneration(n)
	if err != nil {
		return err
	}
	live := filepath.Join(r.dir, liveName)
	aside := filepath.Join(live, gonePrefix+filepath.Base(r.Live(n))+"-"+r.attempt)
	err = errors.Join(makeDir(live), failpoint.RemoveAll(r.Staged(n)))
	if err == nil {
		err = r.writeTree(context.Background(), r.Staged(n), files, m.Encode())
	}
	if err == nil {
		if err = failpoint.Rename(r.Live(n), aside); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = failpoint.Rename(r.Staged(n), r.Live(n))
	}
	if err == nil {
		err = syncDir(live)
	}
	if err != nil {
		return storageError(err, "put the files of generation %d back", n)
	}
	return nil
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
