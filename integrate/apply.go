package integrate

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// Apply makes a change, which is recorded before it is made, or forgotten after it was taken back. A file
// that is no longer as it was planned for is an error of memoir.CodeChanged.
func (r *Record) Apply(c Change) error {
	current, err := read(c.Path)
	if err != nil {
		return err
	}
	if hashOf(current) != hashOf(c.Before) {
		return memoir.Errorf(memoir.CodeChanged, "call it again", "%s was changed meanwhile", c.Path)
	}
	if !c.removal {
		if c.program != "" {
			r.Program = c.program
		}
		r.put(c.record)
		if err := r.save(); err != nil {
			return err
		}
		return c.write()
	}
	if err := c.write(); err != nil {
		return err
	}
	removeDirs(c.record.Made)
	if i := r.find(c.Agent, c.Path); i >= 0 {
		r.Files = slices.Delete(r.Files, i, i+1)
	}
	return r.save()
}

// Sweep removes what an earlier call left that died.
func (r *Record) Sweep() error {
	for _, f := range r.Files {
		path := f.Path
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if err := removeFile(path + beside); err != nil {
			return err
		}
	}
	return nil
}

// put adds the record of a file, or replaces it.
func (r *Record) put(f FileRecord) {
	if i := r.find(f.Agent, f.Path); i >= 0 {
		r.Files[i] = f
		return
	}
	r.Files = append(r.Files, f)
}

// write brings a file to its new content.
func (c Change) write() error {
	path := c.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	var err error
	switch {
	case c.Aside != "":
		err = failpoint.Rename(path, c.Aside)
	case c.After == nil:
		err = removeFile(path)
	case c.Before != nil && bytes.Equal(c.Before, c.After):
	default:
		mode := fs.FileMode(0o600)
		if info, statErr := os.Stat(path); statErr == nil {
			mode = info.Mode().Perm()
		}
		if _, err = makeDirs(filepath.Dir(path)); err == nil {
			err = replaceFile(path, c.After, mode)
		}
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "change %s: %w", c.Path, err)
	}
	return nil
}

// beside is what the name of a file ends with that is about to take another's place.
const beside = ".memoir-new"

// replaceFile writes a file beside another and renames it, so that a reader sees one or the other. What has the
// place beside it, such as a link that a repository brings, is removed and not followed.
func replaceFile(path string, content []byte, mode fs.FileMode) error {
	if err := removeFile(path + beside); err != nil {
		return err
	}
	if err := failpoint.WriteFile(path+beside, content, 0o600); err != nil {
		_ = failpoint.Remove(path + beside)
		return err
	}
	err := flush(path+beside, mode)
	if err == nil {
		err = failpoint.Rename(path+beside, path)
	}
	if err != nil {
		_ = failpoint.Remove(path + beside)
	}
	return err
}

// flush gives a file its mode and makes its content durable.
func flush(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // nothing is written
	if err != nil {
		return err
	}
	if err = failpoint.Before("flush"); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	return errors.Join(err, f.Close())
}

// removeFile removes a file that may be gone.
func removeFile(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failpoint.Remove(path)
}

// makeDirs makes a directory and those above it, and returns those that were missing.
func makeDirs(dir string) ([]string, error) {
	made := missing(dir)
	return made, failpoint.MkdirAll(dir, 0o700)
}

// removeDirs removes directories that were made for a file, as far as they are empty.
func removeDirs(dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		if failpoint.Remove(dir) != nil {
			return
		}
	}
}
