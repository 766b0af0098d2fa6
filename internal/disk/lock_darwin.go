package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// locks reports whether a lock can be had. That it keeps others out would take
// another process to see.
func locks(one, _ *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 1, Len: 1}
	return unix.FcntlFlock(one.Fd(), unix.F_SETLK, &lock) == nil
}
