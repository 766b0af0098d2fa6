// Package project knows which project a session belongs to: what the user said,
// else the repository's remote, else its common git directory, else the
// directory. It reads git's files (.git, commondir, config) and never runs git.
// It knows nothing of sessions, settings and databases.
//
// Read identify.go first (the order of precedence), then remote.go (when two
// URLs name one repository) and gitdir.go (how a repository is found).
package project
