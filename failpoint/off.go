//go:build !failpoint

package failpoint

import "time"

// Before is called before a write. What it returns stands for the write's failure.
func Before(string) error { return nil }

// Now is the wall clock.
func Now() time.Time { return time.Now() }

// After is called after a write.
func After(string) {}
