//go:build !failpoint

package failpoint

// Before is called before a write. What it returns stands for the write's failure.
func Before(string) error { return nil }

// After is called after a write.
func After(string) {}
