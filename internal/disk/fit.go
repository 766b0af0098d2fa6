package disk

import (
	"os"
	"path/filepath"

	"memoir"
)

// place says where a file system keeps files.
type place int

const (
	unknown place = iota // what it can do is found out by trying
	local                // on this machine
	remote               // on another one
)

// Fit is an error of memoir.CodeStorage unless a home can be in dir, which exists.
// A database in a home needs byte-range locks, and memory that all who have opened it
// share; a memory needs symbolic links that a rename replaces. What other machines
// write to as well has no such memory, whatever its locks are worth. A file system of
// this machine that is known costs one system call, another one a few milliseconds.
func Fit(dir string) error {
	at, name := placeOf(dir)
	return fit(dir, at, name, try)
}

func fit(dir string, at place, name string, try func(dir string) (lacks string, err error)) error {
	switch at {
	case local:
		return nil
	case remote:
		return memoir.Errorf(memoir.CodeStorage, fitHint,
			"%s is on a network file system (%s), on which processes can't share a database", dir, name)
	}
	lacks, err := try(dir)
	if err != nil || lacks == "" {
		return nil // whoever writes there is told why it can't be written to
	}
	return memoir.Errorf(memoir.CodeStorage, fitHint, "the file system of %s (%s) has no %s", dir, name, lacks)
}

const fitHint = "choose a folder on a local disk with --home DIR or MEMOIR_HOME; nothing was changed"

// Remote reports whether a directory is on another machine, as far as that is known.
func Remote(dir string) bool {
	at, _ := placeOf(existing(dir))
	return at == remote
}

// existing is the nearest directory at or above a path that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}
