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
	// A crash leaves the archive of at most one generation that was not linked,
	// the next one, and its directory with it. Other archives are no debris: a
	// database that was lost or restored may know less than the disk.
	archives, err := r.archives()
	if err != nil {
		return nil, err
	}
	if next := max(linked, recorded) + 1; slices.Contains(archives, next) && slices.Contains(lives, next) {
		debris = append(debris, filepath.Join(archivesName, filepath.Base(r.Archive(next))))
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
