package disk

import (
	"os"
	"path/filepath"

	"memoir"
)

// Fit is an error of memoir.CodeStorage unless a new home can be in dir, which exists.
// A database in a home needs byte-range locks, and memory that all who have opened it
// share; a memory needs symbolic links that a rename replaces. Each is tried. What other
// machines write to as well has no such memory, whatever one machine sees of it.
func Fit(dir string) error {
	if network(dir) {
		return memoir.Errorf(memoir.CodeStorage, fitHint,
			"%s is on a network file system, on which processes can't share a database", dir)
	}
	lacks, err := try(dir)
	if err != nil || lacks == "" {
		return nil // whoever writes there is told why it can't be written to
	}
	return memoir.Errorf(memoir.CodeStorage, fitHint, "the file system of %s has no %s", dir, lacks)
}

const fitHint = "choose a folder on a local disk with --home DIR or MEMOIR_HOME; nothing was changed"

// Remote reports whether a directory is on another machine, as far as that is known.
func Remote(dir string) bool { return network(existing(dir)) }

// existing is the nearest directory at or above a path that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}
