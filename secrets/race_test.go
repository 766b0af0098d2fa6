//go:build race

package secrets

// raced says that the race detector watches.
const raced = true
