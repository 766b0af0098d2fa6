//go:build !sqlite_fts5

package search

// Available reports whether this program was built with SQLite's full-text index.
const Available = false
