package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"memoir/internal/failpoint"
)

const goneFolderStart = gonePrefix + "p-" // beside the projects' folders: one that is being removed

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
