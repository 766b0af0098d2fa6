// Package memory is a project's memory on disk: the live root that agents read,
// the generations kept as archives, the atomic step from one to the next, the
// hand edits in between, and memory:// paths. It knows no model, no session and
// no database; who may publish is its caller's business (a lease with a fence).
//
// Read root.go first (where things are), then stage.go, byhand.go and swap.go (how a
// generation is published), recover.go (what a crash leaves) and snapshot.go
// (reading back, hand edits); open.go and neutralise.go serve the read path.
package memory
