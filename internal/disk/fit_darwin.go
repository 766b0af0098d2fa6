package disk

import "golang.org/x/sys/unix"

func placeOf(dir string) (place, string) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return unknown, "unknown"
	}
	name := unix.ByteSliceToString(stat.Fstypename[:])
	switch {
	case stat.Flags&unix.MNT_LOCAL == 0:
		return remote, name
	case name == "apfs", name == "hfs":
		return local, name
	}
	return unknown, name
}
