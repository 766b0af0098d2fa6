//go:build !linux && !darwin

package disk

// On other systems a file system is not checked: its limits show when it is used.

func network(string) bool { return false }

// Handles does nothing: open files are not limited here.
func Handles(int) error { return nil }

// Sizes does nothing: file sizes are not limited per process here.
func Sizes(int64) error { return nil }
