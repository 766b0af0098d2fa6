//go:build !linux && !darwin

package disk

// Nothing is known here of a file system: what it can't do shows when it is used.

func network(string) bool { return false }

// Full reports whether nothing can be added below a directory.
func Full(string) bool { return false }

// Handles does nothing: files are not counted here.
func Handles(int) error { return nil }

// Sizes does nothing: files have no limit of their own here.
func Sizes(int64) error { return nil }
