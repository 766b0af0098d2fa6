//go:build !failpoint || !unix

package failpoint

import (
	"io/fs"
	"os"
	"time"
)

// Enabled says that tests may stop the program at its writes.
const Enabled = false

// Before is called before a write. What it returns stands for the write's failure.
func Before(string) error { return nil }

// Now is the wall clock.
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
