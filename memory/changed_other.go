//go:build !linux

package memory

import (
	"io/fs"
	"time"
)

// changed is when a file was written last.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
