package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Debris lists what Recover would remove, relative to the project's folder.
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
