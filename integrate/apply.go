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
	i := r.find(c.Agent, c.Path)
	if c.record == nil {
		if err := c.write(); err != nil {
			return err
		}
		removeDirs(r.Files[i].Made)
		r.Files = slices.Delete(r.Files, i, i+1)
		return r.save()
	}
	if i >= 0 {
		r.Files[i] = *c.record
	} else {
		r.Files = append(r.Files, *c.record)
	}
	if err := r.save(); err != nil {
		return err
	}
	return c.write()
}

// Sweep removes what an earlier call left that died.
func (r *Record) Sweep() (err error) {
	for _, f := range r.Files {
		err = errors.Join(err, removeFile(followed(f.Path)+beside))
	}
	return err
}

// followed is the file to which links lead, if it is there.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// write brings a file to its new content.
func (c Change) write() (err error) {
	path := followed(c.Path)
	switch {
	case c.After == nil:
		err = removeFile(path)
	case c.Before == nil || !bytes.Equal(c.Before, c.After):
		mode := fs.FileMode(0o600)
		if info, statErr := os.Stat(path); statErr == nil {
			mode = info.Mode().Perm()
		}
		if err = failpoint.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = ReplaceFile(path, c.After, mode)
		}
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "change %s: %w", c.Path, err)
	}
	return nil
}

// beside is what the name of a file ends with that is about to take another's place.
const beside = ".memoir-new"

// ReplaceFile writes a file beside another and renames it, so that a reader sees one or the other. What has the
// place beside it, such as a link that a repository brings, is removed and not followed.
func ReplaceFile(path string, content []byte, mode fs.FileMode) error {
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

// removeDirs removes directories that were made for a file, as far as they are empty.
func removeDirs(dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		if failpoint.Remove(dir) != nil {
			return
		}
	}
}
