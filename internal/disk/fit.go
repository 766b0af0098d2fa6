package disk

import (
	"os"
	"path/filepath"

	"memoir"
)

// Fit is an error of memoir.CodeStorage where a home in dir, which exists, would be on a
// network file system: other machines have none of the memory by which the processes that
// opened a database tell each other of it. What else a file system lacks, SQLite finds when
// the database is opened.
func Fit(dir string) error {
	if !network(dir) {
		return nil
	}
	return memoir.Errorf(memoir.CodeStorage,
		"choose a folder on a local disk with --home DIR or MEMOIR_HOME; nothing was changed",
		"%s is on a network file system, on which processes can't share a database", dir)
}

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
