package memory

import (
	"errors"
	"path/filepath"
	"slices"

	"memoir/internal/failpoint"
)

// Recovered says what Recover found and did.
type Recovered struct {
	Linked  int       // the live generation afterwards, 0 if there is none
	Ahead   *Manifest // of the live generation, if it is newer than the recorded one: to be recorded
	Rebuilt bool      // the link or the live directory was lost, and made again from what was kept
	Removed []string  // debris, relative to the project's folder
	Next    int       // the next generation number that nothing on disk uses
}

// Recover puts a root in order after a crash. The caller holds the project's
// lease; recorded is the generation that its database knows as live, 0 for none.
//
// Staged and unlinked directories are removed, except the one before the live
// generation, which readers may still have open. So is the archive of a
// generation that never was linked. A link or a live directory that is gone
// altogether is made again from what was kept, and so is the archive of what is
// live. The link itself is never taken
// back: what readers were shown stays, and is reported as Ahead.
func (r Root) Recover(recorded int) (Recovered, error) {
	var out Recovered
	var err error
	if out.Linked, out.Rebuilt, err = r.relinked(recorded); err != nil {
		return out, err
	}
	if out.Linked > 0 {
		if err := errors.Join(r.rearchive(out.Linked), r.remanifest(out.Linked)); err != nil {
			return out, err
		}
	}
	if out.Linked > recorded {
		m, err := r.liveManifest(out.Linked)
		if err != nil {
			return out, err
		}
		out.Ahead = &m
	}
	debris, err := r.Debris(recorded)
	if err != nil {
		return out, err
	}
	for _, name := range debris {
		if err := r.removeDebris(name); err != nil {
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
	linked, err := r.linked()
	if err != nil || linked > recorded {
		return err == nil, err
	}
	debris, err := r.Debris(recorded)
	return len(debris) > 0, err
}

func (r Root) removeDebris(name string) error {
	if err := r.step("remove debris"); err != nil {
		return err
	}
	if filepath.Dir(name) == liveName {
		if n, ok := generation(filepath.Base(name)); ok {
			return r.removeLive(n)
		}
	}
	return failpoint.RemoveAll(filepath.Join(r.dir, name))
}

// Next is the number of the generation to follow: one more than the given one
// and than any that the disk still has.
func (r Root) Next(recorded int) (int, error) {
	lives, err := r.lives()
	if err != nil {
		return 0, err
	}
	archives, err := r.archives()
	if err != nil {
		return 0, err
	}
	return slices.Max(append(append(lives, archives...), recorded)) + 1, nil
}
