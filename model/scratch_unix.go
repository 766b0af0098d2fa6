//go:build unix

package model

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether a directory was made by a process of this user, for nobody else.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm() == 0o700
}
