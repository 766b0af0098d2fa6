// Package serve shows memory over HTTP on this machine: an API, and pages for a browser. It knows the forms in which
// what is stored is given, which commands print too; it knows no flag and no terminal, and never starts a run.
//
// Read serve.go first (the server), then form.go and status.go (the forms).
package serve
