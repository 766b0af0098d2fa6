//go:build linux || darwin

package disk

import (
	"errors"

	"golang.org/x/sys/unix"

	"memoir"
)

// Handles is an error of memoir.CodeStorage unless n more files can be opened now.
// Without a handful the runtime itself dies at the first file, and without a few
// dozen a run would stop in the middle, so it is found out before.
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
			return memoir.Errorf(
				memoir.CodeStorage,
				Hint(unix.EMFILE),
				"%d more files can be opened, and %d are needed",
				len(opened),
				n,
			)
		}
		if err != nil {
			return nil // no /dev here: what opens files will say so
		}
		opened = append(opened, fd)
	}
	return nil
}

// Sizes is an error of memoir.CodeStorage unless the process may write files of n bytes.
func Sizes(n int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil || uint64(limit.Cur) >= uint64(n) {
		return nil
	}
	return memoir.Errorf(
		memoir.CodeStorage,
		Hint(unix.EFBIG),
		"files may have %d KiB, and %d are needed",
		uint64(limit.Cur)>>10,
		n>>10,
	)
}

// Full reports whether nothing can be added below a directory: there is no room for
// the least file of use, or for a name.
func Full(dir string) bool {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return false
	}
	return stat.Blocks > 0 && stat.Bavail*uint64(stat.Bsize) < Least || stat.Files > 0 && stat.Ffree == 0
}
