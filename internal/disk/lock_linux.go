package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// locks reports whether a lock under one handle is refused under the other. Locks of
// open file descriptions keep handles apart that one process has.
func locks(one, other *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 1, Len: 1}
	if unix.FcntlFlock(one.Fd(), unix.F_OFD_SETLK, &lock) != nil {
		return false
	}
	lock = unix.Flock_t{Type: unix.F_WRLCK, Start: 1, Len: 1}
	return unix.FcntlFlock(other.Fd(), unix.F_OFD_SETLK, &lock) != nil
}
