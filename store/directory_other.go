//go:build !unix

package store

func writableDir(string) bool { return true }

// syncDir does nothing: a directory can't be synced here.
func syncDir(string) error { return nil }
