//go:build !linux

package memory

import (
	"io/fs"
	"time"
)

// changed returns the time at which a file was last written.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
