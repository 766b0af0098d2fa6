package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Debris lists what Recover would remove, relative to the project's folder. Where the
// link is lost, what it would lead to again is none.
func (r Root) Debris(recorded int) ([]string, error) {
	linked, err := r.linked()
	if err != nil {
		return nil, err
	}
	var debris []string
	for _, place := range []struct {
		dir      string
		prefixes []string
	}{
		{"", []string{newLinkPrefix}},
		{liveName, []string{stagePrefix, gonePrefix}},
		{archivesName, []string{newArchiveMark}},
	} {
		names, err := r.withPrefix(place.dir, place.prefixes)
		if err != nil {
			return nil, err
		}
		debris = append(debris, names...)
	}
	lives, err := r.lives()
	if err != nil {
		return nil, err
	}
	if linked == 0 {
		linked = r.unlinked(recorded, lives)
	}
	unlinked, err := r.unlinkedArchives(max(linked, recorded)+1, lives)
	if err != nil {
		return nil, err
	}
	for _, n := range unlinked {
		debris = append(debris, filepath.Join(archivesName, filepath.Base(r.Archive(n))))
	}
	previous, err := r.previous(linked)
	if err != nil {
		return nil, err
	}
	for _, n := range lives {
		if r.unwanted(n, linked, previous) {
			debris = append(debris, linkTarget(n))
		}
	}
	return debris, nil
}

// unlinked is the generation that a link which is lost led to: the recorded one if it is
// there, else the newest that was published; 0 if there is none.
func (r Root) unlinked(recorded int, lives []int) int {
	if recorded > 0 && slices.Contains(lives, recorded) {
		return recorded
	}
	for _, n := range slices.Backward(lives) {
		if n != recorded+1 { // which a crash may have left
			return n
		}
	}
	return 0
}

// LinkLost reports that the link is gone while the files that it led to are there, and
// which generation those are. recorded is as in Recover.
func (r Root) LinkLost(recorded int) (n int, lost bool, err error) {
	linked, err := r.linked()
	if err != nil || linked > 0 {
		return 0, false, err
	}
	lives, err := r.lives()
	if err != nil {
		return 0, false, err
	}
	n = r.unlinked(recorded, lives)
	return n, n > 0, nil
}

// unlinkedArchives lists what a crash left of a publication that was not linked:
// the archive of the next generation and those of the states by hand before it,
// the last first. Its directory is there too, or it is none: other archives are no
// debris, as a database that was lost or restored may know less than the disk.
func (r Root) unlinkedArchives(next int, lives []int) ([]int, error) {
	archives, err := r.archives()
	if err != nil {
		return nil, err
	}
	var found []int
	for ; slices.Contains(archives, next); next++ {
		found = append(found, next)
		if _, m, err := openArchive(r.Archive(next), next, false); err != nil || m.EditedFrom == 0 {
			break
		}
	}
	// Of a publication that died between its archives only states by hand are there.
	if !slices.Contains(lives, next) {
		return nil, nil
	}
	slices.Reverse(found)
	return found, nil
}

func (r Root) withPrefix(dir string, prefixes []string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageError(err, "read %s", filepath.Join(r.dir, dir))
	}
	var names []string
	for _, entry := range entries {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(entry.Name(), p) }) {
			names = append(names, filepath.Join(dir, entry.Name()))
		}
	}
	return names, nil
}
