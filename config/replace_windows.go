package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"memoir/internal/failpoint"
)

// replaceFile puts data in the place of a file. Windows promises no step that is
// atomic; what comes nearest is a rename over the old file.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	if err := failpoint.Before("replace file"); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
