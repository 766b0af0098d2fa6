//go:build unix

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

func writableDir(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// syncDir makes a rename in dir survive power loss.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
