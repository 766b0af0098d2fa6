package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"memoir/internal/failpoint"
)

const (
	mergedName      = "merged"          // in a project's folder: the folders of projects that were merged into it
	goneFolderStart = gonePrefix + "p-" // beside the projects' folders: one that is being removed
)

// Merged lists the memories of projects that were merged into this one, by name.
// They are kept whole, for people to read and restore from; nothing is published
// in them any more.
func (r Root) Merged() ([]Root, error) {
	dir := filepath.Join(r.dir, mergedName)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageError(err, "read %s", dir)
	}
	var roots []Root
	for _, entry := range entries {
		if entry.IsDir() && oneFolder(entry.Name()) {
			roots = append(roots, Root{dir: filepath.Join(dir, entry.Name()), attempt: r.attempt})
		}
	}
	return roots, nil
}

// Keep moves the folder of another project below this one's, in one step: its live
// memory, generations and what was merged into it before. One that is not there
// was moved already, or never made. It returns where the folder is now, "" if there
// was none.
func (r Root) Keep(other Root) (string, error) {
	if _, err := os.Lstat(other.dir); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", storageError(err, "find %s", other.dir)
	}
	merged := filepath.Join(r.dir, mergedName)
	err := errors.Join(makeDir(r.dir), makeDir(merged))
	to := filepath.Join(merged, filepath.Base(other.dir))
	for i := 2; err == nil; i++ { // a project may have been merged before, forgotten, and begun anew
		if _, statErr := os.Lstat(to); errors.Is(statErr, fs.ErrNotExist) {
			break
		}
		to = filepath.Join(merged, filepath.Base(other.dir)+"."+strconv.Itoa(i))
	}
	if err == nil {
		err = failpoint.Rename(other.dir, to)
	}
	if err == nil {
		err = errors.Join(syncDir(merged), syncDir(r.dir), syncDir(filepath.Dir(other.dir)))
	}
	if err != nil {
		return "", storageError(err, "keep %s in %s", other.dir, merged)
	}
	return to, nil
}

// PutAside takes a project's whole folder out of the way in one step. A project
// that begins anew under the same name is not touched when SweepRemoved deletes it.
func (r Root) PutAside() error {
	err := failpoint.Rename(r.dir, filepath.Join(filepath.Dir(r.dir), goneFolderStart+r.attempt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = syncDir(filepath.Dir(r.dir))
	}
	if err != nil {
		return storageError(err, "remove %s", r.dir)
	}
	return nil
}

// SweepRemoved deletes the folders in a home that were put aside, also by a process
// that died before it came to this.
func SweepRemoved(home string) error {
	dir := filepath.Join(home, "projects")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // whoever writes there reports what is wrong with it
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), goneFolderStart) {
			err = errors.Join(err, failpoint.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return storageError(err, "remove what was put aside in %s", dir)
	}
	return nil
}
