//go:build !unix

package store

import "errors"

var errLocked = errors.New("locked")

// lockFolder does nothing where folders cannot be locked.
func lockFolder(string) (unlock func() error, err error) { return func() error { return nil }, nil }

// lockDatabase does nothing: Windows renames no file that another process has open.
func lockDatabase(string) (unlock func() error, err error) { return func() error { return nil }, nil }
