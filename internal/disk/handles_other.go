//go:build !unix

package disk

// Handles does nothing: files are not counted here.
func Handles(int) error { return nil }

// Sizes does nothing: files have no limit of their own here.
func Sizes(int64) error { return nil }
