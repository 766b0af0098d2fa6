//go:build !failpoint || !unix

package failpoint

import (
	"io/fs"
	"os"
	"time"
)

// Enabled reports whether FAILPOINT sets an action.
const Enabled = false

// Before is called before a write. Its error replaces the write.
func Before(string) error { return nil }

// Now returns the time of the wall clock.
func Now() time.Time { return time.Now() }

// After is called after a write.
func After(string) {}

// Remove is os.Remove.
func Remove(path string) error { return os.Remove(path) }

// RemoveAll is os.RemoveAll.
func RemoveAll(path string) error { return os.RemoveAll(path) }

func writeFile(path string, content []byte, mode fs.FileMode) error {
	return os.WriteFile(path, content, mode)
}
