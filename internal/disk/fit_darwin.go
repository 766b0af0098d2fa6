package disk

import "golang.org/x/sys/unix"

func network(dir string) bool {
	var stat unix.Statfs_t
	return unix.Statfs(dir, &stat) == nil && stat.Flags&unix.MNT_LOCAL == 0
}
