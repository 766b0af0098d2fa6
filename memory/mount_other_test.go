//go:build unix && !linux

package memory_test

import "errors"

func mountTiny(string) error { return errors.ErrUnsupported }

func unmount(string) error { return nil }

func makeReadOnly(string) error { return errors.ErrUnsupported }
