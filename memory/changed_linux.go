package memory

import (
	"io/fs"
	"syscall"
	"time"
)

// changed returns the time at which a file was last written, moved or renamed. The time of writing is not
// enough: a file that is moved into a directory keeps it.
func changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if at := time.Unix(st.Ctim.Unix()); at.After(info.ModTime()) {
			return at
		}
	}
	return info.ModTime()
}
