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

// Apply makes a change. It is recorded before it is made; the record of one that is undone is removed
// afterwards. A file that has changed since the plan is an error with memoir.CodeChanged, one that cannot be written
// one with memoir.CodeStorage; it stays recorded.
func (r *Record) Apply(c Change) error {
	current, err := read(c.Path)
	if err != nil {
		return err
	}
	if hashOf(current) != hashOf(c.Before) {
		return memoir.Errorf(memoir.CodeChanged, "run the command again", "another program changed %s meanwhile", c.Path)
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

// RemoveStale removes temporary files of earlier calls that were killed.
func (r *Record) RemoveStale() (err error) {
	for _, f := range r.Files {
		err = errors.Join(err, disk.Discard(followed(f.Path)+disk.Beside))
	}
	return err
}

// followed returns the path that links lead to, or path if they lead nowhere.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// write writes the new content, or removes the file.
func (c Change) write() (err error) {
	path := followed(c.Path)
	switch {
	case c.After == nil:
		err = disk.Discard(path)
	case c.Before == nil || !bytes.Equal(c.Before, c.After):
		mode := fs.FileMode(0o600)
		if info, statErr := os.Stat(path); statErr == nil {
			mode = info.Mode().Perm()
		}
		if err = failpoint.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = disk.Replace(path, c.After, mode)
		}
	}
	if err != nil {
		return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "change %s: %w", c.Path, err)
	}
	return nil
}

// removeDirs removes those directories that are empty, inner ones first.
func removeDirs(dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		if failpoint.Remove(dir) != nil {
			return
		}
	}
}
