//go:build !windows

package config

import (
	"io/fs"

	"github.com/google/renameio/v2"
)

// replaceFile puts data in the place of a file, in one step and for good.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	return renameio.WriteFile(path, data, mode, renameio.WithStaticPermissions(mode))
}
