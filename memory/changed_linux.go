package memory

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when a file was written, moved or renamed last. A file that was moved into a
// directory keeps its older time of writing.
func changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if at := time.Unix(st.Ctim.Unix()); at.After(info.ModTime()) {
			return at
		}
	}
	return info.ModTime()
}
