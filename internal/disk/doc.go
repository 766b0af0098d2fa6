// Package disk is what a file system refuses or can't do, said so that a person can
// act: which error calls for what, whether enough files can be opened, and whether a
// directory is fit for a home. It knows nothing of what is kept there.
// Read hint.go, then fit.go.
package disk

// Least is what a reader of a database needs beside it: 32 KiB of shared memory.
const Least = 32 << 10
