package memory

import (
	"io/fs"
	"syscall"
	"time"
)

// putThere is when a file was last written, renamed or given other rights: one that is
// moved to its place keeps the time at which it was written.
func putThere(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Ctim.Unix())
	}
	return info.ModTime()
}
