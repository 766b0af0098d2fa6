//go:build linux || darwin

package disk

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"memoir"
)

// Handles returns an error of memoir.CodeStorage unless n more files can be opened now. Without a
// handful the Go runtime crashes at the first file; without a few dozen a run would stop midway.
func Handles(n int) error {
	opened := make([]int, 0, n)
	defer func() {
		for _, fd := range opened {
			_ = unix.Close(fd)
		}
	}()
	for len(opened) < n {
		var fd int
		var err error
		if len(opened) == 0 {
			fd, err = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		} else {
			fd, err = unix.FcntlInt(uintptr(opened[0]), unix.F_DUPFD_CLOEXEC, 0)
		}
		// At the limit of a process a duplicate is refused with EINVAL by some.
		if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || err != nil && len(opened) > 0 {
			return memoir.Errorf(memoir.CodeStorage, Hint(unix.EMFILE), "%d more files can be opened, and %d are needed",
				len(opened), n)
		}
		if err != nil {
			return nil // without /dev, the first use of a file reports the limit
		}
		opened = append(opened, fd)
	}
	return nil
}

// Room returns an error of memoir.CodeStorage unless a file may grow by n bytes: the disk has the space, and the
// process may write files of that size.
func Room(file string, n int64) error {
	most := n
	if info, err := os.Stat(file); err == nil {
		most += info.Size()
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil && uint64(limit.Cur) < uint64(most) {
		return memoir.Errorf(memoir.CodeStorage, Hint(unix.EFBIG), "files may have %d KiB, and %d are needed",
			uint64(limit.Cur)>>10, most>>10)
	}
	var stat unix.Statfs_t
	err := unix.Statfs(filepath.Dir(file), &stat)
	if free := stat.Bavail * uint64(stat.Bsize); err == nil && stat.Blocks > 0 && free < uint64(n) {
		return memoir.Errorf(memoir.CodeStorage, Hint(unix.ENOSPC),
			"the disk of %s has %d KiB of free space, and %d are needed", file, free>>10, n>>10)
	}
	return nil
}
