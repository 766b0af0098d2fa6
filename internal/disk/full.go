//go:build linux || darwin

package disk

import "golang.org/x/sys/unix"

// Full reports whether nothing can be added below a directory: there is no room for
// the least file of use, or for a name.
func Full(dir string) bool {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return false
	}
	return stat.Blocks > 0 && stat.Bavail*uint64(stat.Bsize) < Least || stat.Files > 0 && stat.Ffree == 0
}
